"""Models learned from pages and links with scikit-learn; they do not depend on Scrapy.

scikit-learn takes more than a second to import, and every Scrapy command imports every spider. It is therefore imported
inside the functions that use it.
"""
