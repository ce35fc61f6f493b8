"""Words of everyday language: rare among what is learnt, and yet they say little of a task."""

from __future__ import annotations

import re

# The commonest words of English that are of no trade, and of Korean the beginnings of such words.
# In a store of rules about work they are as rare as a term of the trade: one memory of thousands
# says "curious", and would fit each task that does.
_ENGLISH = (
    "about above across actually after afternoon again against ago ahead all allow almost"
    " alone along already also although always am among another any anybody anyone anything"
    " anyway around ask away back bad become before began begin behind believe below beside"
    " best better between beyond big bit both bring call came care certain choose clear close"
    " come coming complete consider correct curious cut dad day days decide different"
    " difficult doing done down due during each early easily easy either else end enough"
    " especially etc even evening ever every everybody everyone everything everywhere exactly"
    " example expect explain extra fact far fast feel felt few fill final finally find fine"
    " finish first five follow following four full further gave general get gets getting give"
    " given gives giving go goes going gone good got great guess half hand happen happened"
    " happy hard having head hear heard help here herself high himself hope hour however idea"
    " important include instead interesting itself just keep kind knew know known large last"
    " late later least leave left less let life like likely line little live long look looking"
    " lot low made main make makes making man many maybe mean means meant mention mind minute"
    " minutes missing moment more morning most move much mum must name near nearly necessary"
    " need needed needs never new next nice night none nothing number obvious off often oh ok"
    " okay old once one ones only open other others otherwise ought out outside over own part"
    " particular past people perhaps piece please possible pretty probably proper properly put"
    " quick quickly quite rather reach read ready real really reason reasonable receive recent"
    " right round said same saw say saying says second see seem seems seen send sent set"
    " several shall short show shown side simple simply since single sit six small somebody"
    " someone something sometimes somewhere soon sorry sort speak start started stay still"
    " straight strange strong such suddenly sure take taken taking tell ten than thanks thing"
    " things think thinking third those though thought three through time times together told"
    " tomorrow tonight too took top total toward town tried true try trying turn twice two"
    " understand unless until up upon use used useful using usual usually very via wait walk"
    " wants watch way ways weird well went whatever whenever whether while whole whose within"
    " without wonder word words world worry worth wrong yes yesterday yet young yourself"
)
_KOREAN = (
    "가는 가능 가다 가면 가서 간다 갑자기 갔 같 거기 거나 거의 것 게다가 겨우 결국 경우 계속"
    " 고르 고쳐 고치 골라 괜찮 궁금 그거 그걸 그게 그냥 그대로 그래 그러 그런 그럼 그렇 그리고"
    " 그만 근데 금방 기다 기억 까먹 깜빡 꼭 끝나 끝났 나오 나온 나와 나왔 남아 남은 내려 내일"
    " 너무 넘게 넣어 네요 놓 누가 누구 늦게 다가 다르 다른 다시 다음 달라 당장 대로 대충 대해"
    " 더 덜 도와 도움 동안 됐 되게 되는 되어 된다 두고 두번 둘 뒤 드려 드리 듣고 들어 들었"
    " 듯 따라 때문 또 똑같 마다 마세 마음 마지막 만들 만약 많 말고 말씀 말해 맞게 맞나 맞는"
    " 맞아 매번 맨날 먼저 몇 모두 모레 모르 몰라 못 무엇 무조건 무척 물어 뭐가 뭐라 미리 바로"
    " 받고 받아 받은 받을 방금 방법 벌써 별로 보고 보내 보낼 보냈 보니 보면 보이 보통 봐 봤"
    " 부분 부탁 빨리 사람 사실 사이 살짝 새로 생각 생겨 생겼 생기 생긴 시간 시작 시켜 싫 싶"
    " 써도 써서 쓰고 쓰는 아까 아는 아니 아마 아무 아예 아주 아직 아침 안녕 알고 알려 알아"
    " 알았 앞 애매 약간 어느 어디 어때 어떡 어떤 어떻 어제 언제 얼마 없나 없는 없어 없이 여기"
    " 여러 역시 열심 예전 오는 오늘 오래 오면 오전 오후 온다 온대 올려 올해 와서 완전 왔 왜"
    " 요새 요즘 우리 원래 원하 위해 이거 이걸 이것 이게 이대로 이따 이렇 이미 이번 이제 일단"
    " 읽고 있고 있나 있는 있다 있어 있을 자꾸 자주 잘 잠깐 재미 저녁 저번 저희 적당 전부 정도"
    " 정리 정말 정확 제가 제대로 조금 좀더 좋게 좋나 좋은 좋을 주고 주로 주면 주셨 줄까 중에"
    " 지금 지난 직접 진짜 짧게 쪽에 찾 처럼 처음 최대한 충분 크게 특히 하나 하는 하다 하라"
    " 하루 하면 하지 한국 한번 한테 할지 함께 항상 해도 해서 해야 했 헷갈 혹시 확실 확인 후에"
    " 힘들"
)
_WORDS = frozenset(_ENGLISH.split())
_BEGINNINGS = frozenset(_KOREAN.split())
_LONGEST = max(map(len, _BEGINNINGS))
# Of a task a number is what is asked about, not what it is about: a short one, or a time.
_PIECE = re.compile(
    r"(?P<number>(?<![\w.,:])\d{1,3}(?:[.:,]\d+)*(?![\d.:]))|(?<!\w)(?P<word>[A-Za-z]+)(?!\w)"
    r"|(?<!\w)(?P<korean>[가-힣]+)"
)


def without_everyday(text: str) -> str:
    """Return a text (in NFC) without its words of everyday language and its short numbers."""
    return _PIECE.sub(lambda piece: " " if _is_everyday(piece) else piece[0], text)


def _is_everyday(piece: re.Match[str]) -> bool:
    if piece["korean"]:
        return any(piece[0][:length] in _BEGINNINGS for length in range(1, _LONGEST + 1))
    return bool(piece["number"]) or piece[0].lower() in _WORDS
