import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CsvError, parse } from 'csv-parse';
import { invalid } from '../../../http/errors.ts';
import { flatMapInTurns } from '../../../in-turns.ts';

/** One row of a CSV text by column, and its location. */
export interface TableRow {
  readonly cells: ReadonlyMap<string, string>;
  /** `data: line 2`, the last line of the row. */
  readonly location: string;
}

/** A row as the parser returns it: with the number of lines up to its end, which blank lines and line breaks in cells also count in. */
interface ParsedRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** Reasons of the parser for errors of files that people edit. */
const reasons: Readonly<Record<string, string>> = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: 'another number of cells than in the line of the column names',
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quotation mark inside a cell must be doubled',
  INVALID_OPENING_QUOTE: 'a quotation mark inside a cell must be doubled, and the cell quoted',
};

/** Reports of AWS with many tags have some hundreds of columns. */
const columnsMax = 1_000;
/** Bytes that are parsed in one turn of the event loop, which takes some milliseconds. */
const bytesPerTurn = 16_384;

/** Returns the rows of a CSV text whose first line names the columns. Names are compared without case. Throws AB01. */
export async function readTable(data: unknown): Promise<TableRow[]> {
  if (typeof data !== 'string') throw invalid('data: the text of a CSV file is expected');
  const rows: ParsedRow[] = [];
  try {
    const parser = parse({ bom: true, trim: true, skip_empty_lines: true, info: true });
    for await (const row of Readable.from(slicesOf(Buffer.from(data))).pipe(parser)) rows.push(row as ParsedRow);
  } catch (error) {
    const { lines, code } = error as CsvError;
    throw invalid(`data: line ${lines ?? '?'} cannot be read as CSV: ${reasons[code] ?? code}`);
  }
  const names = (rows[0]?.record ?? []).map((name) => name.toLowerCase());
  if (names.length === 1 && /[;\t]/.test(names[0] ?? ''))
    throw invalid('data: line 1: columns are expected to be separated by commas');
  if (names.length > columnsMax) throw invalid(`data: line 1: got ${names.length} columns, expected at most ${columnsMax}`);
  const twice = names.find((name, at) => name !== '' && names.indexOf(name) !== at);
  if (twice !== undefined) throw invalid(`data: the column ${twice.slice(0, 60)} occurs twice`);
  return flatMapInTurns(rows.slice(1), ({ record, info }) => {
    const cells = new Map(names.map((name, at) => [name, record[at] ?? '']));
    return [{ cells, location: `data: line ${info.lines}` }];
  });
}

async function* slicesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += bytesPerTurn) {
    yield bytes.subarray(at, at + bytesPerTurn);
    await nextTurn();
  }
}

/** Returns the first of these columns that the table has. Throws AB01 that names the first if there is none. */
export function columnOf(rows: readonly TableRow[], ...names: [string, ...string[]]): string {
  const column = optionalColumnOf(rows, ...names);
  if (column === null && rows.length > 0) throw invalid(`data: the column ${names[0]} is missing`);
  return column ?? names[0];
}

/** Returns the first of these columns that the table has; null if there is none. */
export function optionalColumnOf(rows: readonly TableRow[], ...names: string[]): string | null {
  return names.find((name) => rows[0]?.cells.has(name)) ?? null;
}
