import type { Locations } from '../../contract/provider/passed-usage.ts';
import { textOf } from '../../contract/values/text/utf8.ts';

/** Kind of a string value, by the name of its member. Counted are `data` as text of at most `dataBytesMax`, `item` as one of `items`. */
export type TextKind = 'text' | 'data' | 'item';

export interface ScanTable {
  readonly root: ScanNode;
  /** Known member names by their length in bytes. */
  readonly names: readonly (readonly KnownName[] | undefined)[];
  /** True: all strings count as text, not only those under names of the kind `text`. */
  readonly countsAll: boolean;
}

interface ScanNode {
  /** `usage`, `message.usage`: what `take` is called with. Null: the value is not taken. */
  readonly path: string | null;
  /** True: the children are members of its elements. */
  readonly isList: boolean;
  /** By `KnownName.id`. */
  readonly children: readonly (ScanNode | undefined)[];
}

interface KnownName {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly kind: number;
}

/** Prepares a table for `JsonScanner`. */
export function scanTable(
  picks: Locations,
  kinds: Readonly<Record<string, TextKind>>,
  options: { readonly countsAll: boolean },
): ScanTable {
  const ids = new Map<string, number>();
  const idOf = (name: string): number => {
    const id = ids.get(name) ?? ids.size;
    ids.set(name, id);
    return id;
  };
  const nodeOf = (given: true | Locations, path: string): ScanNode => {
    const isList = path.endsWith('[]');
    if (given === true) return { path, isList, children: [] };
    const children: ScanNode[] = [];
    for (const [name, inner] of Object.entries(given))
      children[idOf(name.replace('[]', ''))] = nodeOf(inner, path === '' ? name : `${path}.${name}`);
    return { path: null, isList, children };
  };
  const root = nodeOf(picks, '');
  for (const name of Object.keys(kinds)) idOf(name);
  const names: KnownName[][] = [];
  for (const [name, id] of ids) {
    const bytes = Buffer.from(name);
    const kind = kindNumbers[kinds[name] ?? 'none'];
    names[bytes.length] ??= [];
    (names[bytes.length] as KnownName[]).push({ id, bytes, kind });
  }
  return { root, names, countsAll: options.countsAll };
}

const textKind = 1;
const dataKind = 2;
const itemKind = 3;
const kindNumbers = { none: 0, text: textKind, data: dataKind, item: itemKind };
/** Strings of data (images, audio) count as text of at most this length. */
const dataBytesMax = 4_000;
/** Longest value that is taken. */
const valueBytesMax = 64 * 1024;
/** Containers nested deeper are only counted. */
const depthMax = 64;
/** Longest member name that is compared. */
const nameBytesMax = 64;

/**
 * Reads JSON in chunks without holding it. Takes out a few members and adds up the length of the texts. The text may be one
 * value, several in a row, or server-sent events (`lines`). Bytes between values are skipped. Malformed JSON is not an error:
 * members that cannot be found are not taken.
 */
export class JsonScanner {
  /** Bytes of strings that count as text, escapes included. */
  textBytes = 0;
  /** Objects at the root, or in an array at the root. */
  objects = 0;
  items = 0;
  readonly #table: ScanTable;
  /** True: a line break outside a string ends every open value. */
  readonly #lines: boolean;
  readonly #take: (path: string, value: unknown) => void;
  #depth = 0;
  /** 1 for objects, 0 for arrays, by depth. */
  readonly #isObject = new Uint8Array(depthMax);
  readonly #nodes: (ScanNode | null)[] = [];
  #expectsName = false;
  /** The node of the member whose value comes next, and the kind of its strings. */
  #member: ScanNode | null = null;
  #kind = 0;
  #inString = false;
  #isName = false;
  #escaped = false;
  /** True if the first 48 bytes of the string have an escape. */
  #hasEscapes = false;
  #stringBytes = 0;
  /** The beginning of a name whose end is in a later chunk. */
  #nameHead: Uint8Array | null = null;
  /** The node being collected, the depth at which it ends, and its bytes so far. */
  #taking: ScanNode | null = null;
  #takingDepth = 0;
  #isScalar = false;
  #taken: Uint8Array[] = [];
  #takenBytes = 0;

  constructor(table: ScanTable, lines: boolean, take: (path: string, value: unknown) => void) {
    this.#table = table;
    this.#lines = lines;
    this.#take = take;
    this.#nodes[0] = table.root;
  }

  push(chunk: Uint8Array): void {
    const end = chunk.length;
    if (end === 0) return;
    let from = 0;
    let at = 0;
    if (this.#inString) {
      at = this.#string(chunk, 0, 0);
      if (!this.#inString && this.#taking && this.#endsHere()) from = this.#finish(chunk, from, at);
    }
    while (at < end) {
      const code = chunk[at] as number;
      if (code === quote) {
        if (this.#depth === 0) {
          at++;
          continue;
        }
        if (this.#member !== null && this.#begin()) from = at;
        at = this.#string(chunk, at + 1, at + 1);
        if (!this.#inString && this.#taking && this.#endsHere()) from = this.#finish(chunk, from, at);
        continue;
      }
      switch (code) {
        case comma:
          if (this.#isScalar) from = this.#finish(chunk, from, at);
          this.#expectsName = this.#depth < depthMax && this.#isObject[this.#depth] === 1;
          this.#member = null;
          break;
        case colon:
          this.#expectsName = false;
          break;
        case openObject:
        case openArray:
          if (this.#member !== null && this.#begin()) from = at;
          this.#open(code === openObject);
          break;
        case closeObject:
        case closeArray:
          if (this.#isScalar) from = this.#finish(chunk, from, at);
          this.#close();
          if (this.#taking && this.#endsHere()) from = this.#finish(chunk, from, at + 1);
          break;
        case lineFeed:
          if (this.#lines) this.#reset();
          break;
        case space:
        case tab:
        case carriageReturn:
          break;
        default:
          if (this.#member !== null && !this.#expectsName && this.#begin()) {
            from = at;
            this.#isScalar = true;
          }
      }
      at++;
    }
    if (this.#taking) this.#keep(chunk, from, end);
  }

  /** Skips to the end of a string whose content begins or continues at `at`. Returns the next index. */
  #string(chunk: Uint8Array, at: number, contentAt: number): number {
    if (!this.#inString) {
      this.#inString = true;
      this.#isName = this.#expectsName;
      this.#stringBytes = 0;
      this.#hasEscapes = false;
      this.#nameHead = null;
    }
    const closing = this.#closingQuote(chunk, at);
    const contentEnd = closing === -1 ? chunk.length : closing;
    this.#stringBytes += contentEnd - contentAt;
    if (closing === -1) {
      if (this.#isName && this.#stringBytes <= nameBytesMax) {
        const part = chunk.slice(contentAt, contentEnd);
        this.#nameHead = this.#nameHead ? Buffer.concat([this.#nameHead, part]) : part;
      }
      return chunk.length;
    }
    this.#inString = false;
    if (this.#isName) this.#named(chunk, contentAt, contentEnd);
    else this.#counted();
    return closing + 1;
  }

  /** -1: not in this chunk. */
  #closingQuote(chunk: Uint8Array, start: number): number {
    let at = start;
    if (this.#escaped && at < chunk.length) {
      this.#escaped = false;
      at++;
    }
    // Most strings are short: calling a search costs more than they do.
    const near = Math.min(chunk.length, at + 48);
    while (at < near) {
      const code = chunk[at] as number;
      if (code === quote) return at;
      if (code === backslash) {
        this.#hasEscapes = true;
        at++;
      }
      at++;
    }
    while (at < chunk.length) {
      const found = indexOf.call(chunk, quote, at);
      const stop = found === -1 ? chunk.length : found;
      let slashes = 0;
      while (stop - 1 - slashes >= at && chunk[stop - 1 - slashes] === backslash) slashes++;
      if (found === -1) {
        this.#escaped = slashes % 2 === 1;
        return -1;
      }
      if (slashes % 2 === 0) return found;
      at = found + 1;
    }
    this.#escaped = at > chunk.length;
    return -1;
  }

  #named(chunk: Uint8Array, start: number, end: number): void {
    let length = this.#stringBytes;
    this.#member = null;
    this.#kind = 0;
    if (length > nameBytesMax || (!this.#hasEscapes && !this.#table.names[length])) return;
    let bytes = chunk;
    let at = start;
    if (this.#nameHead) {
      bytes = Buffer.concat([this.#nameHead, chunk.subarray(start, end)]);
      at = 0;
    }
    if (this.#hasEscapes) {
      bytes = unescaped(bytes.subarray(at, at + length));
      length = bytes.length;
      at = 0;
    }
    const candidates = this.#table.names[length];
    if (!candidates) return;
    for (const name of candidates) {
      if (!isAt(bytes, at, name.bytes)) continue;
      this.#kind = name.kind;
      const node = this.#depth < depthMax ? this.#nodes[this.#depth] : null;
      this.#member = node?.children[name.id] ?? null;
      return;
    }
  }

  #counted(): void {
    if (this.#kind === itemKind) this.items++;
    else if (this.#kind === dataKind) this.textBytes += Math.min(this.#stringBytes, dataBytesMax);
    else if (this.#kind === textKind || this.#table.countsAll) this.textBytes += this.#stringBytes;
  }

  #open(isObject: boolean): void {
    const isRoot = this.#depth === 0 || (this.#depth === 1 && this.#isObject[1] === 0);
    const isElement = !isRoot && this.#depth < depthMax && this.#isObject[this.#depth] === 0;
    const list = isElement ? this.#nodes[this.#depth] : null;
    const node = isRoot ? this.#table.root : (list ?? this.#member);
    if (isRoot && isObject) this.objects++;
    this.#member = null;
    this.#depth++;
    this.#expectsName = isObject;
    if (this.#depth >= depthMax) return;
    this.#isObject[this.#depth] = isObject ? 1 : 0;
    // Elements of other arrays are not looked at.
    this.#nodes[this.#depth] = isObject || isRoot || node?.isList ? node : null;
  }

  #close(): void {
    if (this.#depth > 0) this.#depth--;
    this.#expectsName = false;
    this.#member = null;
  }

  /**
   * Called when the value of a picked member begins. Returns false if only its members are read, or if another value is being
   * taken.
   */
  #begin(): boolean {
    const member = this.#member as ScanNode;
    if (member.path === null || this.#taking !== null) return false;
    this.#taking = member;
    this.#takingDepth = this.#depth;
    this.#takenBytes = 0;
    return true;
  }

  #endsHere(): boolean {
    return this.#depth <= this.#takingDepth && !this.#isScalar;
  }

  /** Passes the value to `take`. Returns the index where it ended. */
  #finish(chunk: Uint8Array, from: number, to: number): number {
    const { path } = this.#taking as ScanNode;
    // Most values lie in one chunk and need no copy.
    const isCut = this.#takenBytes > 0;
    if (isCut) this.#keep(chunk, from, to);
    const bytes = isCut ? Buffer.concat(this.#taken) : Buffer.from(chunk.buffer, chunk.byteOffset + from, to - from);
    const isWhole = (isCut ? this.#takenBytes : bytes.length) <= valueBytesMax;
    this.#drop();
    if (!isWhole) return to;
    try {
      this.#take(path as string, JSON.parse(bytes.toString('utf8')));
    } catch {
      // Malformed values are treated as missing.
    }
    return to;
  }

  #keep(chunk: Uint8Array, from: number, to: number): void {
    this.#takenBytes += to - from;
    if (this.#takenBytes > valueBytesMax) this.#taken = [];
    else this.#taken.push(chunk.slice(from, to));
  }

  #drop(): void {
    this.#taking = null;
    this.#isScalar = false;
    this.#member = null;
    this.#taken = [];
  }

  #reset(): void {
    if (this.#depth === 0) return;
    this.#depth = 0;
    this.#expectsName = false;
    this.#drop();
  }
}

function isAt(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}

/** Returns the name that escapes such as `\u006d` stand for; the bytes themselves if they are no JSON. */
function unescaped(bytes: Uint8Array): Uint8Array {
  try {
    return Buffer.from(JSON.parse(`"${textOf(bytes)}"`) as string);
  } catch {
    return bytes;
  }
}

/** The method of typed arrays: Buffer's own costs more per call. */
const { indexOf } = Uint8Array.prototype;
const quote = 34;
const backslash = 92;
const comma = 44;
const colon = 58;
const openObject = 123;
const closeObject = 125;
const openArray = 91;
const closeArray = 93;
const lineFeed = 10;
const carriageReturn = 13;
const space = 32;
const tab = 9;
