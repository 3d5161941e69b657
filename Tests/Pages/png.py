"""Writes a picture of a screen anew with 256 colors, which takes a third of the bytes."""

import struct
import zlib
from collections import Counter

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def shrink(picture):
    """A PNG with 8 bits a channel, and maybe an alpha channel, as one with a palette."""
    width, pixels = read(picture)
    counts = Counter(pixels)
    palette = [color for color, _ in counts.most_common(256)]
    index = {color: place for place, color in enumerate(palette)}
    for color in counts:
        if color not in index:
            index[color] = min(range(len(palette)), key=lambda place: distance(palette[place], color))
    places = bytes(index[pixel] for pixel in pixels)
    lines = b"".join(b"\0" + places[start:start + width] for start in range(0, len(places), width))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, len(pixels) // width, 8, 3, 0, 0, 0)),
              (b"PLTE", b"".join(color[:3] for color in palette)),
              (b"tRNS", bytes(color[3] if len(color) == 4 else 255 for color in palette)),
              (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks)


def distance(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other))


def read(picture):
    """The width of a PNG, and its pixels from left to right and top to bottom."""
    place, data = len(SIGNATURE), b""
    while place < len(picture):
        size, kind = struct.unpack(">I4s", picture[place:place + 8])
        body = picture[place + 8:place + 8 + size]
        place += size + 12
        if kind == b"IHDR":
            width, _, depth, color = struct.unpack(">IIBB", body[:10])
            if depth != 8 or color not in (2, 6):
                raise ValueError(f"a PNG with {depth} bits a channel and the color type {color}")
        elif kind == b"IDAT":
            data += body
    step = 3 if color == 2 else 4
    lines, before, pixels = zlib.decompress(data), bytearray(width * step), []
    for start in range(0, len(lines), width * step + 1):
        line = bytearray(lines[start + 1:start + 1 + width * step])
        restore(lines[start], line, before, step)
        pixels += [bytes(line[at:at + step]) for at in range(0, len(line), step)]
        before = line
    return width, pixels


def restore(kind, line, before, step):
    """Takes the filter of a line back (PNG, 9.2)."""
    if kind == 2:
        line[:] = bytes(value + above & 255 for value, above in zip(line, before))
    elif kind in (1, 3, 4):
        for at, value in enumerate(line):
            left, corner = (line[at - step], before[at - step]) if at >= step else (0, 0)
            above = before[at]
            line[at] = value + (left if kind == 1 else (left + above) // 2 if kind == 3 else paeth(left, above, corner)) & 255


def paeth(left, above, corner):
    by_left, by_above, by_corner = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
    if by_left <= by_above and by_left <= by_corner:
        return left
    return above if by_above <= by_corner else corner
