import { randomUUID } from 'node:crypto';
import { didYouMean } from '../../config/did-you-mean.ts';
import type { Settings } from '../../config/settings.ts';
import { cutForCount, type GatewayTasks } from '../../workers/gateway-tasks.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import { keysToTry } from '../contract/protocol/credentials/encryption-keys.ts';
import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import { ownStoreProvider } from '../contract/provider/own-store.ts';
import { deriveKey } from '../contract/values/credentials/secret.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { ProcessLog } from '../log/log.ts';
import { createTokenFetch } from '../pipeline/target/token-fetch.ts';
import { settingNames } from '../providers/declarations.ts';
import { forwardedHeaders, modelHeaders, modelsInBody, modelsInPath, providers } from '../providers/index.ts';
import type { ChainParts } from './compose-chain.ts';
import type { Extensions } from './load-extensions.ts';
import type { Outbound } from './open-outbound.ts';
import { semanticCacheOf } from './open-reply-cache.ts';
import { guardrailOpener } from './open-sealed.ts';
import { createPluginFetch } from './plugin-fetch.ts';
import { createSignAws } from './sign-aws.ts';
import type { GatewayState } from './start-state.ts';

interface Parts {
  readonly settings: Settings;
  readonly log: ProcessLog;
  readonly clock: Clock;
  readonly state: GatewayState;
  readonly outbound: Outbound;
  readonly journal: CoreServices['journal'];
  readonly workers: GatewayTasks;
  readonly extensions: Extensions;
  /** Prefixes of the gateway's headers, the preferred one first. */
  readonly prefixes: readonly string[];
}

/** Returns the plugin chain of a gateway process: its keys, limits and services. */
export function chainParts({ settings, log, clock, state, outbound, journal, workers, extensions, prefixes }: Parts): ChainParts {
  return {
    added: extensions.added,
    checks: extensions.checks,
    openGuardrail: guardrailOpener(settings.clusterKey),
    planEntriesMax: settings.documentCacheEntries,
    limits: settings,
    keys: {
      apiKeyPeppers: pepperReader(settings, state.apiKeyPepper),
      hasApiKeyPepper: () => state.apiKeyPepper() !== null || state.keyCheck.isOver(),
      jobCredentialKey: deriveKey(settings.clusterKey, keyPurposes.jobCredential),
      oauthTokenKey: deriveKey(settings.clusterKey, keyPurposes.oauthToken),
    },
    services: {
      documents: state.documents,
      journal,
      ...(state.contents ? { contents: state.contents } : {}),
      replies: state.replies,
      semanticCache: semanticCacheOf(settings),
      circuits: state.circuits,
      leases: state.leases,
      log,
      clock,
      newId: () => randomUUID(),
      random: Math.random,
      blockInlineConfig: settings.blockInlineConfig,
      headerPrefixes: prefixes,
      headersToMetadata: { names: settings.headersToMetadata, keyPrefix: settings.metadataKeyPrefix },
      countTokens: async (texts, timeoutMs, owner) =>
        workers.run('count-tokens', { texts: cutForCount(texts) }, { timeoutMs, owner }),
      tasks: workers,
      tokens: state.tokens,
      ...{ settingNames, forwardedHeaders, modelHeaders, modelsInBody, modelsInPath },
      isProvider: (id) => providers.has(id) || id === ownStoreProvider,
      providerHint: (id) => didYouMean(id, [...providers.keys()]),
      checkCustomHost: outbound.parsers.checkCustomHost,
      fetch: createPluginFetch(createTokenFetch(outbound.tokenFetch)),
      signAws: createSignAws(clock),
    },
  };
}

/** Until the control plane has replied, the pepper is one of those derived from the keys, as in versions that do not send it. */
function pepperReader(settings: Settings, known: () => Uint8Array | null): () => readonly Uint8Array[] {
  const derived = keysToTry(settings).map((key) => deriveKey(key, keyPurposes.apiKeyPepper));
  return () => {
    const pepper = known();
    return pepper === null ? derived : [pepper];
  };
}
