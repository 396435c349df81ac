import type { JsonObject } from '../json/json.ts';

/** Structured log lines. Secrets are masked before a line is written. */
export interface Log {
  debug(fields: JsonObject, message: string): void;
  info(fields: JsonObject, message: string): void;
  warn(fields: JsonObject, message: string): void;
  error(fields: JsonObject, message: string): void;
}
