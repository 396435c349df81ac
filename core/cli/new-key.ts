import { type ApiKeyKind, newApiKey } from '../contract/values/credentials/api-key.ts';

/**
 * `npm run new:key -- admin|ws|user` prints one new key of that kind (default `admin`) and nothing else, for
 * BOOTSTRAP_ADMIN_KEY and BOOTSTRAP_WORKSPACE_KEY.
 */
const kinds: readonly string[] = ['admin', 'ws', 'user'] satisfies ApiKeyKind[];
const kind = process.argv[2] ?? 'admin';
if (kinds.includes(kind)) {
  process.stdout.write(`${newApiKey(kind as ApiKeyKind).text}\n`);
} else {
  process.stderr.write(`kind: got ${JSON.stringify(kind)}, expected one of ${kinds.join(', ')}\n`);
  process.exitCode = 2;
}
