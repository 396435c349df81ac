import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type ExportField, exportFieldRules } from './export-fields.ts';
import type { PieceWriter } from './formats.ts';

/** Column types of Parquet by the type of a field. */
const elements = {
  STRING: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  JSON: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
  BOOLEAN: { type: 'BOOLEAN' },
  DOUBLE: { type: 'DOUBLE' },
  INT32: { type: 'INT32' },
  // DuckDB and Polars read the converted type alone as a local time.
  TIME: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
} as const;

/**
 * Writes a Parquet file in pieces: a row group for each call of `add`, then the index of the file. The same rows give the same bytes.
 * Only one piece is in memory.
 */
export class ParquetPieces implements PieceWriter {
  readonly #fields: readonly ExportField[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;

  constructor(fields: readonly ExportField[]) {
    this.#fields = fields;
    const columns = fields.map((name) => ({
      name,
      ...elements[exportFieldRules[name].type],
      repetition_type: 'OPTIONAL' as const,
    }));
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [{ name: 'logs', num_children: columns.length }, ...columns],
      codec: 'ZSTD',
      compressors: { ZSTD: (input: Uint8Array) => new Uint8Array(zstdCompressSync(input)) },
    });
  }

  add(rows: readonly Readonly<Record<string, unknown>>[]): Uint8Array {
    if (rows.length > 0) {
      const columnData = this.#fields.map((name) => {
        const { type } = exportFieldRules[name];
        return { name, data: rows.map((row) => (type === 'TIME' ? new Date(String(row[name])) : row[name])) };
      });
      this.#writer.write({ columnData, rowGroupSize: rows.length });
    }
    return this.#take();
  }

  end(): Uint8Array {
    this.#writer.finish();
    return this.#take();
  }

  /** Returns the bytes since the last piece. The offset in the file stays. */
  #take(): Uint8Array {
    const piece = new Uint8Array(this.#bytes.getBuffer());
    this.#bytes.index = 0;
    return piece;
  }
}
