import { pino } from 'pino';
import type { Settings } from '../config/settings.ts';
import type { Log } from '../core/contract/values/log.ts';
import { isPretty, prettyLogLine } from '../core/contract/values/pretty-log.ts';

/** Creates the log on standard output, in the format of LOG_FORMAT. Fields that could hold a secret are masked by name. */
export function createLog(settings: Pick<Settings, 'logLevel' | 'logFormat'>): Log {
  const log = pino({
    level: settings.logLevel,
    // The same fields as in the log lines of the other processes.
    base: { name: 'control-plane', pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    ...(isPretty(settings.logFormat) ? { hooks: { streamWrite: prettyLogLine } } : {}),
    redact: { paths: names.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '***' },
  });
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  };
}

const names = ['key', 'secret', 'secrets', 'token', 'password', 'authorization', 'api_key', 'apiKey', 'digest', 'credentials'];
