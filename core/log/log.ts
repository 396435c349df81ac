import { pino } from 'pino';
import type { Settings } from '../../config/settings.ts';
import type { Log } from '../contract/values/log/log.ts';
import { createOutput, type Output } from './output.ts';
import { isPretty, prettyLogLine } from './pretty-log.ts';
import { escapeControls, redactPaths, redactText } from './redact.ts';

export interface LogOptions {
  readonly level: Settings['logLevel'];
  /** `auto`, which is the default: `pretty` if standard output is a terminal, `json` otherwise. */
  readonly format?: Settings['logFormat'];
  /** Name of the process on every line: `gateway`, `supervisor`. */
  readonly name: string;
  /** Number of the process among processes of the same kind. Written on every line if set. */
  readonly slot?: number;
  /** Header prefixes (`x-svc-`) whose `api-key` header must not be printed. */
  readonly headerPrefixes?: readonly string[];
  /** Destination of the lines; absent: standard output, written without waiting. */
  readonly destination?: Pick<Output, 'write'> & Partial<Output>;
}

/** The log of a process. One line per entry, with secrets removed by name and by pattern, and control characters escaped. */
export interface ProcessLog extends Log {
  /** Writes text that is not a log line, such as the first address. */
  print(text: string): void;
  /** Writes the buffer before it returns. Called before the process exits. */
  flush(): void;
}

/** Creates the log. Lines are buffered and written off the request path; a normal exit writes the buffer first. */
export function createLog(options: LogOptions): ProcessLog {
  const { level, name, slot, headerPrefixes = [] } = options;
  const pretty = isPretty(options.format ?? 'auto');
  const destination = options.destination ?? openOutput();
  const logger = pino(
    {
      level,
      base: slot === undefined ? { name, pid: process.pid } : { name, slot, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactPaths(headerPrefixes), censor: '***' },
      hooks: { streamWrite: (line) => escapeControls(pretty ? prettyLogLine(redactText(line)) : redactText(line)) },
    },
    destination,
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    print: (text) => destination.write(text),
    flush: () => destination.flush?.(),
  };
}

/** Standard output. A reader that is gone also breaks the streams of Node, whose errors would end the process. */
function openOutput(): Output {
  const output = createOutput();
  process.on('exit', output.flush);
  for (const stream of [process.stdout, process.stderr]) if (stream.listenerCount('error') === 0) stream.on('error', () => {});
  return output;
}
