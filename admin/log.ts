import { pino } from 'pino';
import type { Settings } from '../config/settings.ts';
import type { Log } from '../core/contract/plugin.ts';

/** Structured log on standard output, one JSON object per line. Fields that could hold a secret are struck out by name. */
export function createLog(settings: Pick<Settings, 'logLevel'>): Log {
  const log = pino({
    level: settings.logLevel,
    // As the other processes of the service say who and when.
    base: { name: 'control-plane', pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
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
