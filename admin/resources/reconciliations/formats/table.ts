import { type CsvError, parse } from 'csv-parse/sync';
import { invalid } from '../../../http/errors.ts';

/** One row of a CSV text by column, and where it stands. */
export interface TableRow {
  readonly cells: ReadonlyMap<string, string>;
  /** `data: line 2`. */
  readonly place: string;
}

/** Returns the rows of a CSV text whose first line names the columns. Names are compared without case. Throws AB01. */
export function readTable(data: unknown): TableRow[] {
  if (typeof data !== 'string') throw invalid('data: the text of a CSV file is expected');
  let rows: string[][];
  try {
    rows = parse(data, { bom: true, trim: true, skip_empty_lines: true });
  } catch (error) {
    const { lines, code } = error as CsvError;
    const reason = code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH' ? 'another number of cells than in line 1' : code;
    throw invalid(`data: line ${lines ?? '?'} cannot be read as CSV (${reason})`);
  }
  const names = (rows[0] ?? []).map((name) => name.toLowerCase());
  return rows.slice(1).map((row, index) => ({
    cells: new Map(names.map((name, at) => [name, row[at] ?? ''])),
    place: `data: line ${index + 2}`,
  }));
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
