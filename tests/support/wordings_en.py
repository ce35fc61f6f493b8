"""Facts in three common English wordings each, and different facts of one domain."""

from __future__ import annotations

FACTS: tuple[tuple[str, str, str], ...] = (
    (
        "Ms. Kim wants amounts in KRW without decimals.",
        "Show figures for Ms. Kim in Korean won, with no decimal places.",
        "When you report to Ms. Kim, write amounts as whole won.",
    ),
    (
        "Refunds are only possible within 7 days of delivery.",
        "A customer can get a refund up to seven days after the parcel was delivered.",
        "After delivery there are 7 days to ask for a refund; later requests are rejected.",
    ),
    (
        "The weekly sales report goes out every Monday at 9 am.",
        "Send the sales report each Monday morning at 9:00.",
        "Every Monday by 9 o'clock the weekly report on sales has to be sent.",
    ),
    (
        "Our fiscal year starts in April.",
        "The company's fiscal year begins on April 1.",
        "April is the first month of our fiscal year.",
    ),
    (
        "Legal has to review every contract before it is signed.",
        "No contract may be signed until the legal team has reviewed it.",
        "Before signing, have contracts reviewed by legal.",
    ),
    (
        "The staging server is restarted every night at 2 am.",
        "Each night at 02:00 staging gets restarted.",
        "Expect the staging server to be down around 2 am because it restarts nightly.",
    ),
    (
        "Acme Corp pays its invoices within 45 days.",
        "Invoices to Acme Corp have a payment term of 45 days.",
        "Give Acme Corp 45 days to pay an invoice.",
    ),
    (
        "Do not call customers after 8 pm.",
        "Customers must never be phoned later than 8 p.m.",
        "Calls to customers are forbidden after 20:00.",
    ),
    (
        "Meeting notes belong in Notion, not in Google Docs.",
        "Put the notes of a meeting into Notion instead of Google Docs.",
        "We keep meeting notes in Notion rather than Google Docs.",
    ),
    (
        "The support team answers in the language of the customer.",
        "Support replies should be written in the customer's own language.",
        "Always reply to a customer in the language they wrote in.",
    ),
    (
        "Dr. Lopez is on parental leave until September.",
        "Until September Dr. Lopez will be away on parental leave.",
        "Dr. Lopez returns from parental leave in September.",
    ),
    (
        "Express shipping costs 15 dollars within Europe.",
        "Within Europe we charge $15 for express shipping.",
        "The price of express delivery in Europe is 15 USD.",
    ),
    (
        "Passwords for the billing portal expire every 90 days.",
        "The billing portal asks for a new password every 90 days.",
        "Change the password of the billing portal each 90 days, because it expires.",
    ),
    (
        "Use British spelling in all customer documents.",
        "Documents for customers are written with British spelling.",
        "All documents that customers see should follow British English spelling.",
    ),
    (
        "Charts in board slides use dark blue as the main colour.",
        "On slides for the board, charts should be mainly dark blue.",
        "Make dark blue the main colour of the charts in the board deck.",
    ),
    (
        "Warehouse B closes at noon on Fridays.",
        "On Fridays warehouse B is only open until 12:00.",
        "Warehouse B shuts at 12 noon every Friday.",
    ),
    (
        "The API key of the weather service may be used 1,000 times a day.",
        "We have a limit of 1000 calls per day on the weather service's API key.",
        "The weather API allows a thousand requests a day with our key.",
    ),
    (
        "New employees get their laptop on the first day.",
        "A laptop is handed to every new employee on day one.",
        "On their first day, new hires receive a laptop.",
    ),
    (
        "Mr. Tanaka prefers short emails with bullet points.",
        "Emails to Mr. Tanaka should be brief and use bullet points.",
        "Keep it short and use bullet points when you email Mr. Tanaka.",
    ),
    (
        "Damaged goods are photographed before they are sent back.",
        "Take a photo of damaged goods before returning them.",
        "Before a damaged item is returned, photograph it.",
    ),
)

# Different facts that share a domain and some of its words.
DIFFERENT: tuple[tuple[str, str], ...] = (
    ("Refunds are paid to the card that was used.", "Refunds over 500 dollars need a receipt."),
    ("The sales report goes out every Monday.", "The sales report has a page for each region."),
    ("Invoices are sent as PDF.", "Invoices are numbered by year and month."),
    ("Acme Corp pays its invoices within 45 days.", "Acme Corp's contact is Joan Smith."),
    ("Legal reviews contracts before they are signed.", "Contracts are kept for ten years."),
    ("The staging server restarts at 2 am.", "The staging server has 16 GB of memory."),
    ("Customers are not called after 8 pm.", "Customers are greeted by their last name."),
    ("Meeting notes belong in Notion.", "Meetings start five minutes past the hour."),
    ("Express shipping costs 15 dollars.", "Express parcels need a phone number."),
    ("Laptops are handed out on the first day.", "Laptops are replaced every four years."),
    ("The billing portal's password expires.", "The billing portal is run by Finance."),
    ("Mr. Tanaka prefers short emails.", "Mr. Tanaka works from the Osaka office."),
    ("Use British spelling in documents.", "Documents carry the logo at the top left."),
    ("Warehouse B closes at noon on Fridays.", "Warehouse B keeps frozen goods."),
    ("Board slides use dark blue charts.", "Board slides are due two days before."),
    ("The fiscal year starts in April.", "The annual audit is in June."),
    ("Support answers in the customer's language.", "Support tickets close after 30 idle days."),
    ("Damaged goods are photographed.", "Damaged goods are written off at year's end."),
    ("The weather API allows 1,000 calls a day.", "The weather API answers in JSON."),
    ("Dr. Lopez is on leave until September.", "Dr. Lopez approves lab purchases."),
    ("Expenses are paid on the 25th.", "Expenses need a cost centre."),
    ("Orders ship from Rotterdam.", "Orders can be cancelled before they are packed."),
    ("Prices are shown with tax.", "Prices change on the first of the month."),
    ("The newsletter goes to subscribers only.", "The newsletter has at most five stories."),
    ("Interviews take 45 minutes.", "Interviews are held by two people."),
    ("Backups are kept for 30 days.", "Backups are encrypted with the team key."),
    ("Returns are free for members.", "Members get points on their birthday."),
    ("Visitors sign in at the desk.", "Visitors park behind the building."),
    ("Tests run before every merge.", "Releases are tagged with the date."),
    ("Candidates hear back within a week.", "Candidates get the agenda in advance."),
    ("Time sheets are due on Thursday.", "Time sheets are approved by the team lead."),
    ("Phone orders are entered at once.", "Phone numbers carry the country code."),
    ("The lobby screen shows the weather.", "The lobby closes at ten."),
    ("Discounts above 20% are approved by Kate.", "Discounts are not shown on invoices."),
    ("The German team speaks English in calls.", "The German team is off on 3 October."),
    ("Error messages name the field.", "Error messages are translated by Ana."),
    ("Travel is booked through Egencia.", "Travel by train is preferred to flying."),
    ("Purchase orders start with PO.", "Purchase orders under 100 euros need no approval."),
    ("The chatbot hands over after three tries.", "The chatbot's name is Robin."),
    ("Project Falcon ends in May.", "Project Falcon uses PostgreSQL."),
)
