"""The languages that a topic may name, each by its ISO 639-1 code."""

from __future__ import annotations

from functools import cache

#: The English name of each code.
NAMES = {
    "af": "Afrikaans",
    "am": "Amharic",
    "an": "Aragonese",
    "ar": "Arabic",
    "as": "Assamese",
    "az": "Azerbaijani",
    "be": "Belarusian",
    "bg": "Bulgarian",
    "bn": "Bengali",
    "br": "Breton",
    "bs": "Bosnian",
    "ca": "Catalan",
    "cs": "Czech",
    "cy": "Welsh",
    "da": "Danish",
    "de": "German",
    "dz": "Dzongkha",
    "el": "Greek",
    "en": "English",
    "eo": "Esperanto",
    "es": "Spanish",
    "et": "Estonian",
    "eu": "Basque",
    "fa": "Persian",
    "fi": "Finnish",
    "fo": "Faroese",
    "fr": "French",
    "ga": "Irish",
    "gl": "Galician",
    "gu": "Gujarati",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "ht": "Haitian Creole",
    "hu": "Hungarian",
    "hy": "Armenian",
    "id": "Indonesian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "jv": "Javanese",
    "ka": "Georgian",
    "kk": "Kazakh",
    "km": "Khmer",
    "kn": "Kannada",
    "ko": "Korean",
    "ku": "Kurdish",
    "ky": "Kyrgyz",
    "la": "Latin",
    "lb": "Luxembourgish",
    "lo": "Lao",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "mg": "Malagasy",
    "mk": "Macedonian",
    "ml": "Malayalam",
    "mn": "Mongolian",
    "mr": "Marathi",
    "ms": "Malay",
    "mt": "Maltese",
    "my": "Burmese",
    "ne": "Nepali",
    "nl": "Dutch",
    "no": "Norwegian",
    "oc": "Occitan",
    "or": "Odia",
    "pa": "Punjabi",
    "pl": "Polish",
    "ps": "Pashto",
    "pt": "Portuguese",
    "qu": "Quechua",
    "ro": "Romanian",
    "ru": "Russian",
    "rw": "Kinyarwanda",
    "se": "Northern Sami",
    "si": "Sinhala",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sq": "Albanian",
    "sr": "Serbian",
    "st": "Sesotho",
    "sv": "Swedish",
    "sw": "Swahili",
    "ta": "Tamil",
    "te": "Telugu",
    "th": "Thai",
    "tl": "Tagalog",
    "tr": "Turkish",
    "ug": "Uyghur",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "uz": "Uzbek",
    "vi": "Vietnamese",
    "vo": "Volapük",
    "wa": "Walloon",
    "xh": "Xhosa",
    "yi": "Yiddish",
    "zh": "Chinese",
    "zu": "Zulu",
}

#: Codes that pages use for one of these.
_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "ji": "yi", "sh": "sr", "fil": "tl", "cmn": "zh"}

#: Languages that are not written in Latin letters. ASCII words on their pages are English words, names mostly.
_OTHER_SCRIPTS = frozenset(
    (
        *("am", "ar", "as", "be", "bg", "bn", "dz", "el", "fa", "gu", "he", "hi", "hy", "ja", "ka", "kk", "km", "kn"),
        *("ko", "ky", "lo", "mk", "ml", "mn", "mr", "my", "ne", "or", "pa", "ps", "ru", "si", "sr", "ta", "te", "th"),
        *("ug", "uk", "ur", "yi", "zh"),
    )
)

#: Languages that write compounds as one word.
_COMPOUNDING = frozenset(("da", "de", "et", "fi", "fo", "hu", "is", "lb", "nl", "no", "sv"))

#: English stems are those of Porter's paper, which the papers' strategies name.
_PORTER = "porter"


def code_of(tag: str) -> str:
    """The code of a language tag such as `de-CH`, `pt_BR` or `zh-Hant`; empty if it names no known language."""
    code = tag.strip().replace("_", "-").partition("-")[0].lower()
    code = _ALIASES.get(code, code)
    return code if code in NAMES else ""


def is_latin(code: str) -> bool:
    """Whether a language is written in Latin letters."""
    return code not in _OTHER_SCRIPTS


def compounds(code: str) -> bool:
    """Whether a language writes compounds as one word: Orgelpfeife."""
    return code in _COMPOUNDING


@cache
def stemmed() -> tuple[str, ...]:
    """The codes of the languages with a stemmer, without English."""
    return tuple(code for code in NAMES if code != "en" and algorithm(code))


@cache
def algorithm(code: str) -> str:
    """The name of the Snowball algorithm for a language; empty if there is none."""
    import Stemmer

    if code in ("en", ""):
        return _PORTER
    name = NAMES[code].lower()
    return name if name in Stemmer.algorithms() else ""
