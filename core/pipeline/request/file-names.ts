/**
 * Returns every name of a file that parsers could read in the header of a part: `filename` with and without its escapes, and `filename*`, which HTTP
 * libraries for .NET send beside it. Empty if the part is no file.
 */
export function fileNamesIn(header: Buffer): readonly string[] {
  const lines = header.toString('utf8').replace(/\r\n[ \t]+/g, ' ');
  const [disposition = ''] = lines.match(/^content-disposition[ \t]*:.*$/im) ?? [];
  const names = new Set<string>();
  for (const [, star, quoted, plain = ''] of disposition.matchAll(fileName)) {
    const value = quoted ?? plain.trim();
    // The value of `filename*` begins with its charset and language.
    const text = star === '' ? value : value.replace(/^[^']*'[^']*'/, '');
    names.add(text).add(text.replace(/\\(.)/g, '$1')).add(percentDecodedBytes(text));
  }
  return [...names];
}

const fileName = /;[ \t]*filename(\*?)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/gi;

/** Escapes that are not UTF-8 are read as one character each. */
function percentDecodedBytes(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
}
