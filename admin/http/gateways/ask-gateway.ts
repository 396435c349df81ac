import * as v from 'valibot';
import { messageOf } from '../../../core/contract/values/errors/message-of.ts';
import type { AdminServices } from '../admin-services.ts';
import { AdminError } from '../errors.ts';

export interface GatewayQuestion<Reply> {
  readonly path: string;
  readonly body: object;
  readonly reply: v.GenericSchema<unknown, Reply>;
  readonly timeoutMs: number;
  /** Completes "no gateway could …". */
  readonly what: string;
}

/**
 * Sends a question to a gateway, because only gateways load plugins and checks. Throws AB10 if no gateway replies in time or the reply has
 * another form.
 */
export async function askGateway<Reply>(
  { settings, log }: Pick<AdminServices, 'settings' | 'log'>,
  { path, body, reply: schema, timeoutMs, what }: GatewayQuestion<Reply>,
): Promise<Reply> {
  try {
    const reply = await fetch(`${settings.gatewayUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${settings.clusterKeyText}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (reply.status !== 200) throw new Error(`status ${reply.status}`);
    return v.parse(schema, await reply.json());
  } catch (error) {
    log.warn({ reason: messageOf(error) }, `no gateway could ${what}`);
    throw new AdminError('AB10', `no gateway could ${what}. Check GATEWAY_URL and try again`);
  }
}
