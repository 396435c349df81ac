import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buildConnector } from 'undici';
import { onTestFinished } from 'vitest';
import { createTokenCaches } from '../../../core/cloud-auth/token-cache.ts';
import { referenceOpener } from '../../../core/compose/open-sealed.ts';
import { outboundParsers } from '../../../core/compose/outbound-parsers.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import type { MappedSecretDocument, SecretManagerType } from '../../../core/contract/protocol/credentials/secret-reference.ts';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import { deriveKey, seal } from '../../../core/contract/values/credentials/secret.ts';
import { createTokenFetch } from '../../../core/pipeline/target/token-fetch.ts';
import { createSecretManagers, type RunningSecretManagers } from '../../../core/secret-managers/secret-managers.ts';
import { providerDocument } from '../../../core/test-kit/pipeline-harness.ts';
import { createTransport } from '../../../core/upstream/transport.ts';
import type { FakeClouds } from '../../support/fakes/fake-clouds/fake-clouds.ts';
import { type LogLine, newMemoryLog } from '../../support/fakes/memory-log.ts';

const clusterKey = new Uint8Array(32).fill(5);

export interface ManagersUnderTest {
  readonly managers: RunningSecretManagers;
  readonly logLines: readonly LogLine[];
  /** Timeout of one exchange in milliseconds from now on. Default 5,000. */
  timeoutMs: number;
  /** Advances the clock of values and tokens, but not of requests under way. */
  advance(ms: number): void;
  /** The plain values of a document by field. */
  read(document: ProviderDocument): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export interface UnderTestOptions {
  readonly clouds?: FakeClouds;
  readonly trusted?: readonly string[];
  readonly machineIdentity?: boolean;
  /** Replies of the machine's metadata service: no test can listen on its address. */
  readonly metadata?: (url: string) => object;
  readonly ttlMs?: number;
  readonly serviceAccountTokenFile?: string;
}

/** `managersUnderTest`, closed when the running test ends. */
export function managersOfTest(options: UnderTestOptions = {}): ManagersUnderTest {
  const under = managersUnderTest(options);
  onTestFinished(() => under.close());
  return under;
}

/** The managers over real sockets with the real address rules. Host names of the clouds resolve to the fake ones. */
export function managersUnderTest(options: UnderTestOptions = {}): ManagersUnderTest {
  const { clouds, machineIdentity = false, ttlMs = 300_000 } = options;
  const trusted = parseTrustedHosts(options.trusted ?? ['127.0.0.1']);
  const names = new Set(clouds?.names);
  const transport = createTransport({
    // The connector allows the fake clouds. The managers have their own list of trusted hosts.
    trusted: [...trusted, ...parseTrustedHosts([...names])],
    ca: [readFileSync(new URL('../../support/tls/clouds-cert.pem', import.meta.url), 'utf8')],
    resolve: (name, callback) =>
      setImmediate(() =>
        names.has(name) ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(new Error(`unknown ${name}`), []),
      ),
    dial: ((given: buildConnector.BuildOptions) => {
      const dial = buildConnector(given);
      const portOf = (to: buildConnector.Options) => (names.has(to.hostname) ? String(clouds?.port) : to.port);
      return (to: buildConnector.Options, callback: buildConnector.Callback) => dial({ ...to, port: portOf(to) }, callback);
    }) as typeof buildConnector,
  });
  let passedMs = 0;
  const startedMs = Date.now();
  const clock = { now: () => startedMs + passedMs, elapsed: () => passedMs };
  const log = newMemoryLog();
  const parseUrl = outboundParsers(trusted).parseTokenUrl;
  const signWithin = (timeoutMs: number) => createTokenFetch({ transport, parseUrl, now: clock.now, machineIdentity, timeoutMs });
  const managers = createSecretManagers({
    openAuth: referenceOpener(clusterKey),
    sign: {
      ...signWithin(0),
      tokens: createTokenCaches(),
      async fetch(request) {
        if (!request.metadata || !machineIdentity) return signWithin(under.timeoutMs).fetch(request);
        return { status: 200, headers: [], body: Buffer.from(JSON.stringify(options.metadata?.(request.url) ?? {})) };
      },
    },
    trusted,
    clock,
    log,
    ttlMs,
    ...(options.serviceAccountTokenFile ? { serviceAccountTokenFile: options.serviceAccountTokenFile } : {}),
  });
  const under: ManagersUnderTest = {
    managers,
    timeoutMs: 5_000,
    logLines: log.lines,
    advance(ms) {
      passedMs += ms;
    },
    async read(document) {
      const { credentials, settings } = await managers.valuesOf(document);
      return { ...settings, ...Object.fromEntries(Object.entries(credentials).map(([name, secret]) => [name, secret.reveal()])) };
    },
    close: () => transport.close(),
  };
  return under;
}

export interface MappedGiven extends Partial<Omit<MappedSecretDocument, 'authSecrets' | 'auth'>> {
  readonly managerType: SecretManagerType;
  readonly path: string;
  readonly auth: Readonly<Record<string, string>>;
  /** Sealed as the control plane seals them. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** A mapping that fills the key of a provider. */
export function mappedSecret({ secrets, ...given }: MappedGiven, key: Uint8Array = clusterKey): MappedSecretDocument {
  const id = given.id ?? randomUUID();
  return {
    target: 'key',
    field: 'api_key',
    isSecret: true,
    format: 'string',
    slug: 'our-reference',
    revision: 1,
    key: null,
    ...given,
    id,
    authSecrets: secrets ? seal(deriveKey(key, keyPurposes.transport), JSON.stringify(secrets), `secret-reference/${id}`) : null,
  };
}

export function documentWith(...mappedSecrets: MappedSecretDocument[]): ProviderDocument {
  return { ...providerDocument('one', 'openai'), mappedSecrets };
}
