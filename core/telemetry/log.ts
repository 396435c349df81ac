import { type DestinationStream, pino } from 'pino';
import type { Settings } from '../../config/settings.ts';
import type { Log } from '../contract/plugin.ts';
import { escapeControls, redactPaths, redactText } from './redact.ts';

export interface LogOptions {
  readonly level: Settings['logLevel'];
  /** On every line: `gateway`, `supervisor`. */
  readonly name: string;
  /** On every line when given: number of the process among its like. */
  readonly slot?: number;
  /** Header prefixes (`x-svc-`) whose `api-key` header must not be printed. */
  readonly headerPrefixes?: readonly string[];
  /** Where lines go; standard output, written without waiting, if not given. */
  readonly destination?: DestinationStream;
}

/** The process's log: one JSON object per line, secrets taken out by name and by look, control characters escaped. */
export interface ProcessLog extends Log {
  /** Writes what is buffered before it returns; for the last breath of a process. */
  flush(): void;
}

/** Lines are buffered and written off the request path; on a normal exit what is buffered is written first. */
export function createLog(options: LogOptions): ProcessLog {
  const { level, name, slot, headerPrefixes = [] } = options;
  const destination = options.destination ?? pino.destination({ dest: 1, sync: false });
  const logger = pino(
    {
      level,
      base: slot === undefined ? { name, pid: process.pid } : { name, slot, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: redactPaths(headerPrefixes), censor: '***' },
      hooks: { streamWrite: (line) => escapeControls(redactText(line)) },
    },
    destination,
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    flush() {
      if ('flushSync' in destination && typeof destination.flushSync === 'function') destination.flushSync();
    },
  };
}
