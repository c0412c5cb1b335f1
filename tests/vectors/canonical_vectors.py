"""Vectors of the canonical serialisation and of the keys."""

from __future__ import annotations

import json
from typing import Any

from reference import hkdf, jcs, purpose_key

MASTER = bytes(range(32))
NEXT_MASTER = bytes(range(32, 64))
JOURNAL_ID = "000102030405060708090a0b0c0d0e0f"

WRITTEN = {
    "null": "null",
    "booleans": "[true, false]",
    "empty": '[{}, [], ""]',
    "blanks go": ' { "a" : [ 1 , 2 ] } ',
    "keys are sorted": '{"b":1,"a":2,"aa":3,"A":4,"":5,"_":6,"10":7,"9":8}',
    "keys are sorted at each depth": '{"z":{"y":1,"x":[{"b":0,"a":0}]},"a":0}',
    "keys are sorted by UTF-16 units": r'{"\ufb33":1,"\ud83d\ude00":2,"\u20ac":3,"\u0080":4,"\r":5,"1":6}',
    "the largest integers": "[9007199254740991,-9007199254740991,0,-1]",
    "minus zero": "[-0,-0.0]",
    "whole floats": "[1.0,-2.0,100.0,9007199254740991.0]",
    "fractions": "[0.1,-0.5,1.5,333333333.33333329,0.000001,123456.789]",
    "exponents": "[1e-7,1e21,1.5e300,5e-324,1.7976931348623157e308,-2.5E-10,1E30]",
    "short escapes": r'"\b\t\n\f\r\"\\\/"',
    "other control characters": r'"\u0000\u0001\u001f"',
    "escapes that need none": r'"\u0041\u00e9\u007f\u2028\ud83d\ude00"',
    "scripts": '"Ada, Ада, 艾达, عايدة 👋🏽"',
    "composed and decomposed stay apart": r'["\u00e9","e\u0301"]',
    "the deepest nesting": "[" * 64 + "]" * 64,
    "a payload": '{"salt":"00112233445566778899aabbccddeeff","metadata":{"role":"user"},"content":"Hi"}',
}
REFUSED = {
    "not a number": ("NaN", "not finite"),
    "infinity": ("[Infinity]", "not finite"),
    "minus infinity": ('{"a":-Infinity}', "not finite"),
    "a float that overflows": ("1e400", "not finite"),
    "an integer past 2^53 - 1": ("9007199254740992", "not exact"),
    "a negative one": ("-9007199254740992", "not exact"),
    "an integer of many digits": ("1" + "0" * 40, "not exact"),
    "a float that writes an integer past 2^53 - 1": ("1152921504606846976.0", "not exact"),
    "a high surrogate alone": (r'"\ud800"', "lone surrogate"),
    "a low surrogate alone": (r'["\udc00 "]', "lone surrogate"),
    "surrogates in the wrong order": (r'"\ude00\ud83d"', "lone surrogate"),
    "a lone surrogate in a key": (r'{"\ud800":1}', "lone surrogate"),
    "arrays too deep": ("[" * 65 + "]" * 65, "too deep"),
    "objects too deep": ('{"a":' * 64 + "{}" + "}" * 64, "too deep"),
}
RFC_5869 = [
    ("0b" * 22, bytes(range(13)).hex(), bytes(range(0xF0, 0xFA)).hex(), 42),
    (bytes(range(80)).hex(), bytes(range(0x60, 0xB0)).hex(), bytes(range(0xB0, 0x100)).hex(), 82),
    ("0b" * 22, "", "", 42),
]


def canonical() -> dict[str, Any]:
    """JSON texts with their canonical form, and texts whose value has none."""
    return {
        "written": [
            {"name": name, "text": text, "canonical": jcs(json.loads(text))} for name, text in WRITTEN.items()
        ],
        "refused": [{"name": name, "text": text, "why": why} for name, (text, why) in REFUSED.items()],
    }


def keys() -> dict[str, Any]:
    """HKDF, the derived keys of two masters and two journals, and key files."""
    derived = [
        {
            "master_key": master.hex(),
            "journal_id": journal_id,
            "purpose": purpose,
            "key": purpose_key(master, journal_id, purpose).hex(),
        }
        for master in (MASTER, NEXT_MASTER)
        for journal_id in (JOURNAL_ID, "ff" * 16)
        for purpose in ("record", "head", "segments", "witness")
    ]
    return {"hkdf": [_hkdf(*case) for case in RFC_5869], "derived": derived, "key_files": _key_files()}


def _hkdf(secret: str, salt: str, info: str, length: int) -> dict[str, Any]:
    output = hkdf(bytes.fromhex(secret), bytes.fromhex(salt), bytes.fromhex(info), length)
    return {"secret": secret, "salt": salt, "info": info, "length": length, "output": output.hex()}


def _key_files() -> list[dict[str, Any]]:
    key = MASTER.hex()
    good = {"as written": key + "\n", "without newline": key, "in upper case": key.upper() + "\r\n"}
    bad = {
        "short": key[:-2],
        "long": key + "00",
        "not hex": "g" * 64,
        "empty": "",
        "one byte repeated": "11" * 32,
    }
    return [{"name": name, "text": text, "key": key} for name, text in good.items()] + [
        {"name": name, "text": text, "key": None} for name, text in bad.items()
    ]
