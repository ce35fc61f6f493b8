"""An agent that learns. Run it as it is: a worker is started beside it, and a stand-in answers.

With SKILL_WORKER_URL, SKILL_WORKER_TOKEN and SKILL_WORKER_AGENT it uses a worker of yours, with
MODEL (as "openai:gpt-4o") a real model.
"""

import time

from beside import chat_model, opened_worker
from langchain.agents import create_agent
from skill_worker_client.langchain import KnowledgeMiddleware

QUESTION = "김 대리에게 보낼 견적서를 원화로 써도 되나요?"
with opened_worker() as worker:
    agent = create_agent(chat_model(), middleware=[KnowledgeMiddleware(worker)])

    def ask() -> str:
        return agent.invoke({"messages": [("user", QUESTION)]})["messages"][-1].text

    print("before:", ask())
    worker.give_feedback("견적서 금액은 원화로, 소수점 없이 적어 주세요", about=QUESTION)
    while not worker.context(QUESTION).items:
        time.sleep(0.2)
    print("after: ", ask())
