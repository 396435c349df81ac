import * as v from 'valibot';
import {
  type ConnectionDiagnosis,
  connectionDiagnosis,
  connectionTestMs,
  connectionTestPath,
} from '../../../../core/contract/protocol/control-plane-calls/connection-test.ts';
import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import type { MappedSecretDocument } from '../../../../core/contract/protocol/credentials/secret-reference.ts';
import type { ProviderDocument } from '../../../../core/contract/protocol/documents.ts';
import { deriveKey, seal } from '../../../../core/contract/values/credentials/secret.ts';
import { messageOf } from '../../../../core/contract/values/errors/message-of.ts';
import { newId } from '../../../db/new-id.ts';
import type { AdminServices } from '../../../http/admin-services.ts';
import { AdminError } from '../../../http/errors.ts';
import type { Headers } from '../../../secrets/sealed-headers.ts';
import { sealedForGateways } from '../headers.ts';

/** An account to be tested: stored, or only sent. */
export interface Tried {
  readonly organisationId: string;
  readonly aiProviderId: string;
  /** Settings without secrets, under their wire names. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly headers: Headers;
  /** Secret references to read for the mapped fields. */
  readonly mappedSecrets: MappedSecretDocument[];
}

/** Milliseconds that the reply may take longer than the test itself. */
const slackMs = 400;

/**
 * Asks a gateway to make the cheapest authenticated call to the provider. Returns the meaning of the outcome, field by field.
 * Secrets are sealed, as in documents. Throws AB10 if no gateway replies.
 */
export async function testConnection(
  services: Pick<AdminServices, 'settings' | 'log'>,
  tried: Tried,
): Promise<ConnectionDiagnosis> {
  const { settings, log } = services;
  try {
    const reply = await fetch(`${settings.gatewayUrl}${connectionTestPath}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${settings.clusterKeyText}`, 'content-type': 'application/json' },
      body: JSON.stringify({ document: toDocument(settings.clusterKey, tried) }),
      redirect: 'error',
      signal: AbortSignal.timeout(connectionTestMs + slackMs),
    });
    if (reply.status !== 200) throw new Error(`status ${reply.status}`);
    return v.parse(connectionDiagnosis, await reply.json());
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'no gateway could test a connection');
    throw new AdminError('AB10', 'No gateway could run the test. Check GATEWAY_URL and try again');
  }
}

function toDocument(clusterKey: Uint8Array, tried: Tried): ProviderDocument {
  const id = newId();
  const isOpen = Object.keys(tried.secrets).length === 0;
  const transport = deriveKey(clusterKey, keyPurposes.transport);
  return {
    id,
    slug: 'connection-test',
    organisationId: tried.organisationId,
    workspaceId: '',
    integrationId: id,
    provider: tried.aiProviderId,
    status: 'active',
    expiresAt: null,
    settings: tried.settings,
    customHeaders: {},
    headers: sealedForGateways(clusterKey, id, tried.headers),
    mappedSecrets: tried.mappedSecrets,
    secrets: isOpen ? null : seal(transport, JSON.stringify(tried.secrets), `provider/${id}`),
  };
}
