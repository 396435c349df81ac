export const partsMax = 1000;
const partHeaderBytesMax = 16 * 1024;
/** Maximum bytes of white space after the last part. */
const endBytesMax = 1024;

/** Returns the boundary of a form. Null: the content type has none, or a second one that other parsers could read. */
export function boundaryOf(contentType: string): string | null {
  if (contentType.match(/[;,]\s*boundary/gi)?.length !== 1) return null;
  const [, quoted, plain] = /[;,]\s*boundary=(?:"([^"\\]+)"|([^\s";,]+))/i.exec(contentType) ?? [];
  return quoted ?? plain ?? null;
}

/**
 * Counts the parts of a form, or of its first bytes, whose headers are complete, and calls `onHeader` with the header of each. Throws Error for a form that parsers read in different ways, so that a
 * provider could find what the gateway misses: bytes before the first part or after the last one, and headers that the parser truncates, skips or
 * decodes.
 */
export function countParts(body: Buffer, boundary: string, onHeader?: (header: Buffer) => void): number {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let at = beginsWith(body, delimiter.subarray(2)) ? -2 : 0;
  if (at === 0 && !beginsWith(body, delimiter)) throw new Error('it does not begin with its boundary');
  for (let parts = 0; ; parts++) {
    const start = at + delimiter.length;
    if (body[start] === dash && body[start + 1] === dash) {
      const rest = body.subarray(start + 2);
      if (rest.length > endBytesMax || /\S/.test(rest.toString('latin1'))) throw new Error('text follows its last part');
      return parts;
    }
    const header = body.subarray(start, start + partHeaderBytesMax + headerEnd.length);
    const length = header.indexOf(headerEnd);
    const failed = (why: string) => new Error(`the header of part ${parts + 1} ${why}`);
    if (length === -1 && header.length >= partHeaderBytesMax) throw failed(`is longer than ${partHeaderBytesMax} bytes`);
    if (length === -1 || parts === partsMax) return parts;
    at = body.indexOf(delimiter, start);
    if (at !== -1 && at < start + length + headerEnd.length) throw failed('has no end');
    const why = whyAmbiguous(header.toString('latin1', 0, length));
    if (why !== null) throw failed(why);
    onHeader?.(header.subarray(0, length));
    if (at === -1) return parts + 1;
  }
}

function beginsWith(body: Buffer, start: Buffer): boolean {
  return body.subarray(0, start.length).equals(start);
}

const dash = 0x2d;
const headerEnd = Buffer.from('\r\n\r\n');

function whyAmbiguous(header: string): string | null {
  if (!header.startsWith('\r\n')) return 'begins on the line of the boundary';
  if (/(?<!\r)\n|\r(?!\n)/.test(header)) return 'has a line end that is not CRLF';
  const lines = header.replace(/\r\n[ \t]+/g, ' ');
  const [disposition = '', ...others] = lines.match(/^content-disposition[ \t]*:.*$/gim) ?? [];
  if (others.length > 0 || disposition.match(/;[ \t]*name[ \t]*[*=]/gi)?.length !== 1)
    return 'needs one content-disposition with one name';
  if (fileNames(disposition).some((name, index, all) => all.indexOf(name) < index) || /;[ \t]*filename\*\d/i.test(disposition))
    return 'has a file name twice or in pieces';
  if (encoded.test(lines)) return 'has a content-transfer-encoding: send the bytes as they are';
  return otherCharset.test(lines) ? 'has a charset other than UTF-8' : null;
}

/** The names of the parameters with a file name: `filename`, `filename*` or both. */
function fileNames(disposition: string): readonly string[] {
  return Array.from(disposition.matchAll(/;[ \t]*(filename\*?)[ \t]*=/gi), ([, name = '']) => name.toLowerCase());
}

const encoded = /^content-transfer-encoding[ \t]*:(?![ \t]*(?:7bit|8bit|binary)[ \t]*$)/im;
/** The charsets of bytes that the parser reads as UTF-8 or as one character each are accepted. */
const otherCharset = /^content-type[ \t]*:.*charset(?!=(?:"|)(?:utf-?8|(?:us-)?ascii|iso-8859-\d+|windows-125\d)(?:[";\s]|$))/im;
