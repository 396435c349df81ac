import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { Log } from '../../../core/contract/values/log/log.ts';

export interface LogLine {
  readonly level: keyof Log;
  readonly fields: JsonObject;
  readonly message: string;
}

/** A log in memory. */
export function newMemoryLog(): Log & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const add = (level: keyof Log) => (fields: JsonObject, message: string) => void lines.push({ level, fields, message });
  return { lines, debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') };
}
