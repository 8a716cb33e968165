#!/usr/bin/env python3
"""Makes the font of the notification card: a subset of Noto Sans CJK SC under a name of its own.

usage: make.py NotoSansCJK-Regular.ttc PatchbayCardSans-Regular.otf
"""
import sys

from fontTools import subset
from fontTools.ttLib import TTCollection

FACE = "Noto Sans CJK SC"
FAMILY = "Patchbay Card Sans"


def characters():
    out = set(range(0x20, 0x7F)) | set(range(0xA0, 0x180))  # ASCII, Latin-1, Latin Extended-A
    out |= set(range(0x2010, 0x2028)) | set(range(0x2030, 0x205F))  # general punctuation
    out |= {ord(c) for c in "←↑→↓↔⇒□■○●◆△▲▼€™№✓✗"}
    for high in range(0xA1, 0xF8):
        for low in range(0xA1, 0xFF):
            try:
                out.update(map(ord, bytes([high, low]).decode("gb2312")))
            except UnicodeDecodeError:
                pass
    return out


def main(source, target):
    faces = TTCollection(source).fonts
    font = next(f for f in faces if f["name"].getDebugName(4) == FACE)
    options = subset.Options(
        hinting=False, layout_features=[], name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14], notdef_outline=True,
        drop_tables=["GSUB", "GPOS", "GDEF", "vhea", "vmtx", "VORG", "BASE", "DSIG"],
    )
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters())
    subsetter.subset(font)
    names = font["name"]
    names.names = [n for n in names.names if n.langID in (0, 0x409)]
    postscript = FAMILY.replace(" ", "") + "-Regular"
    for n in names.names:
        new = {1: FAMILY, 3: FAMILY + " Regular", 4: FAMILY, 6: postscript}.get(n.nameID)
        if new:
            names.setName(new, n.nameID, n.platformID, n.platEncID, n.langID)
    cff = font["CFF "].cff
    cff.fontNames = [postscript]
    cff.topDictIndex[0].FullName = FAMILY
    cff.topDictIndex[0].FamilyName = FAMILY
    font.save(target)


main(*sys.argv[1:])
