import { textOfFile } from '../../core/contract/values/bodies/encoded-file.ts';

/** A kind of file by its bytes. `text`: checks read it. `document`: PDFs, office files, archives and everything unknown. */
export type FileKind = 'text' | 'image' | 'audio' | 'document';

/** Bytes in Latin-1 and their offset. */
type Mark = readonly [bytes: string, offset?: number];

/** The marks at the beginning of files, by their kind. A file has all marks of its entry. */
const signatures: readonly (readonly [FileKind, ...Mark[]])[] = [
  // ZIP, as in office files; earlier office files; gzip, 7z and RAR.
  ...beginnings('document', ['PK\x03\x04', '\xd0\xcf\x11\xe0', '\x1f\x8b', '7z\xbc\xaf', 'Rar!']),
  ...beginnings('image', ['\x89PNG', '\xff\xd8\xff', 'GIF8', 'II*\0', 'MM\0*']),
  ['image', ['RIFF'], ['WEBP', 8]],
  ...beginnings('image', ['ftypheic', 'ftypheix', 'ftypmif1', 'ftypavif'], 4),
  // MP3 with a tag, and frames of MP3 and AAC; Matroska and WebM; MP4 and M4A.
  ...beginnings('audio', ['ID3', '\xff\xfb', '\xff\xf3', '\xff\xf2', '\xff\xfa', '\xff\xf1', '\xff\xf9']),
  ...beginnings('audio', ['OggS', 'fLaC', '\x1aE\xdf\xa3']),
  ['audio', ['RIFF'], ['WAVE', 8]],
  ...beginnings('audio', ['ftyp'], 4),
];

function beginnings(kind: FileKind, marks: readonly string[], offset = 0): [FileKind, Mark][] {
  return marks.map((bytes) => [kind, [bytes, offset]]);
}

/** Readers of PDF accept other bytes before its mark. */
const headBytes = 1024;

/**
 * Returns the kind of a file. `type`: its media type, if it states one. It matters only for text in an encoding of one byte for each character. Audio
 * includes video.
 */
export function fileKind(bytes: Uint8Array, type: unknown): FileKind {
  const start = bytes.subarray(0, headBytes);
  const head = Buffer.from(start).toString('latin1');
  // A PDF may consist of text.
  if (head.includes('%PDF-')) return 'document';
  const known = signatures.find(([, ...marks]) => marks.every(([mark, offset = 0]) => head.startsWith(mark, offset)));
  if (known !== undefined) return known[0];
  if (textOfFile(bytes, undefined) !== null) return 'text';
  return start.some(isControl) || textOfFile(bytes, type) === null ? 'document' : 'text';
}

/** True for a control character other than white space. Text has none, and compressed or encrypted bytes have them. */
function isControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d);
}
