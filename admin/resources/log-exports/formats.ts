import type { ExportField } from './export-fields.ts';

/** Converts records to the bytes of a file, in pieces: one for each call of `add`, and one for `end`. */
export interface PieceWriter {
  add(rows: readonly Readonly<Record<string, unknown>>[]): Uint8Array;
  end(): Uint8Array;
}

interface Format {
  readonly contentType: string;
  /** Source of the bytes: the stored parts as JSON lines, the same in gzip format, or a writer for the fields of the export. */
  readonly source: 'lines' | 'gzip' | ((fields: readonly ExportField[]) => Promise<PieceWriter>);
}

/** The formats of exports by their names in requests. */
const formats = {
  jsonl: { contentType: 'application/x-ndjson', source: 'lines' },
  'jsonl.gz': { contentType: 'application/gzip', source: 'gzip' },
  /** Compressed with Zstandard. The package that writes it is loaded when it is used first. */
  parquet: {
    contentType: 'application/vnd.apache.parquet',
    source: async (fields) => new (await import('./parquet-pieces.ts')).ParquetPieces(fields),
  },
} satisfies Readonly<Record<string, Format>>;

export type ExportFormat = keyof typeof formats;
export const exportFormats = Object.keys(formats) as readonly ExportFormat[];

/** Returns how files of this format are made and served. */
export function formatOf(name: ExportFormat): Format {
  return formats[name];
}
