import type { Reply } from '../../contract/plugin/plugin.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';

/** Thrown where a plugin denies a part of a request that is being sent. The attempt ends with the reply of the denial. */
export class DenialError extends GatewayError {
  readonly reply: Reply;

  constructor(reply: Reply) {
    super('request_denied', { status: reply.status });
    this.reply = reply;
  }
}
