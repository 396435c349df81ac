import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { Listening } from '../../json-rpc/relay-reply.ts';
import type { Work } from '../exchange.ts';
import { Refusal } from '../refusals.ts';
import { findServer } from './find-server.ts';

/** Returns the ends of a stream of this server that does not end by itself. */
export function listeningOf({ ctx, parts, options }: Pick<Work, 'ctx' | 'parts' | 'options'>): Listening {
  return {
    streams: parts.openStreams,
    async find() {
      try {
        await findServer(ctx, options.services.documents);
      } catch (thrown) {
        if (thrown instanceof Refusal) throw new GatewayError('forbidden', { message: thrown.message });
        throw thrown;
      }
    },
  };
}
