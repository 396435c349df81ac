import { messageOf } from '../contract/values/errors/message-of.ts';
import { stackOf } from '../contract/values/errors/stack-of.ts';
import type { ProcessLog } from './log.ts';

/**
 * Makes an exception that nothing catches end the process with code 1 and a line of the log. Node itself prints several lines that are no JSON,
 * and secrets in them as they are.
 */
export function endOnException(log: ProcessLog): void {
  process.on('uncaughtException', (thrown) => {
    log.error({ reason: messageOf(thrown), stack: stackOf(thrown) }, 'uncaught exception; the process ends');
    log.flush();
    process.exit(1);
  });
}
