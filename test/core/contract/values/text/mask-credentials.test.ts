import { describe, expect, it } from 'vitest';
import { maskSecrets } from '../../../../../admin/audit/mask-secrets.ts';
import { maskCredentials } from '../../../../../core/contract/values/text/mask-credentials.ts';
import { createMasks } from '../../../../../core/journal/mask-content.ts';
import { createLog } from '../../../../../core/log/log.ts';
import { credentials, secretOf } from '../../../../support/samples/credentials.ts';

function logged(text: string): string {
  let out = '';
  const log = createLog({ level: 'info', name: 'gateway', destination: { write: (line: string) => (out += line) } });
  log.info({ text }, text);
  return out;
}

describe.each(Object.entries(credentials))('%s', (_, make) => {
  it.each<[string, (text: string) => string]>([
    ['log lines', logged],
    ['stored contents', (text) => JSON.stringify(createMasks([], []).body({ text }))],
    ['stored contents that are not whole', (text) => createMasks([], []).text(`{"text":${JSON.stringify(text)}`)],
    ['audit entries', (text) => JSON.stringify(maskSecrets({ description: text }))],
    ['names of audit entries', (text) => JSON.stringify(maskSecrets({ metadata: { [text]: 1 } }))],
  ])('is masked in %s, also behind a line end', (_place, shown) => {
    const secret = make();
    expect(shown(`the value is ${secret}, as sent`)).not.toContain(secretOf(secret));
    expect(shown(`the value is\n${secret}\nas sent`)).not.toContain(secretOf(secret));
  });
});

it('a private key that is cut is masked to its end', () => {
  const text = 'a -----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nplanted';
  for (const shown of [logged(text), JSON.stringify(maskSecrets({ description: text }))]) {
    expect(shown).toContain('-----BEGIN RSA PRIVATE KEY-----***');
    expect(shown).not.toMatch(/MIIEpAIBAAKCAQEA|planted/);
  }
});

it('ids of files, batches and OAuth clients are not masked', () => {
  const ids = {
    file: `svc_file_${'a'.repeat(32)}`,
    batch: `svc_batch_${'b'.repeat(32)}`,
    client: `svc_client_${'c'.repeat(43)}`,
  };
  expect(createMasks([], []).body(ids)).toEqual(ids);
  expect(maskSecrets(ids)).toEqual(ids);
});

it.each([
  'hf-production-inference',
  '/v1/integrations/xai-production-europe',
  '@team-npm-package-builders/some-model',
  'pplx-research-assistant-3f9a1c',
  'r8-deployment-frankfurt',
])('slugs that begin like a key are not masked: %s', (slug) => {
  expect(maskSecrets({ slug })).toEqual({ slug });
  expect(createMasks([], []).body({ slug })).toEqual({ slug });
});

const [ten, twelve, fifteen, sixteen, twenty] = [10, 12, 15, 16, 20].map((length) => 'A'.repeat(length));
it.each([
  ...['admin', 'ws', 'user', 'job', 'session', 'refresh', 'oauth', 'scim', 'link', 'invite', 'pending', 'browser', 'code'].map(
    (kind) => [`svc_${kind}_`, sixteen],
  ),
  ...['svc_state_', 'svc_admin_abcdefghijkl_', 'svc_job_abcdefghijkl_'].map((prefix) => [prefix, sixteen]),
  ...['Bearer ', 'bearer\t', 'BEARER \n', 'bEaReR  '].map((prefix) => [prefix, sixteen]),
  ...['Basic ', 'Basic \t'].map((prefix) => [prefix, fifteen]),
  ...['sk-', 'sk_', 'pk-', 'pk_', 'glpat-', 'rk_', 'ek_', 'gsk_', 'r8_', 'gho_', 'ghp_', 'ghr_', 'ghs_', 'ghu_'].map((prefix) => [
    prefix,
    sixteen,
  ]),
  ...['hf_', 'shpat_', 'npm_', 'xai-', 'pplx-', 'auth_tokens/', 'AIza'].map((prefix) => [prefix, sixteen]),
  ...['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-'].map((prefix) => [prefix, ten]),
  ...[
    ['github_pat_', twenty],
    ['AKIA', twelve],
    ['ASIA', twelve],
    ['-----BEGIN PRIVATE KEY-----', 'a'],
    ['-----BEGIN RSA PRIVATE KEY-----', ''],
  ],
])('the shortest credential behind %j is masked, and a text around it stays', (prefix, secret) => {
  expect(maskCredentials(`${prefix}${secret}`)).toBe(`${prefix}***`);
  if (!prefix?.includes('BEGIN'))
    expect(maskCredentials(`Ümlaut 这 ${prefix}${secret}, and more`)).toBe(`Ümlaut 这 ${prefix}***, and more`);
});

it.each([
  ['eyJAAAAAAAA.AAAAAAAA.', 'eyJ***'],
  ['x://:a@', 'x://:a@'],
  ['see x://:password@host', 'see x://:***@host'],
  ['postgres://user:a@localhost', 'postgres://user:***@localhost'],
])('the shortest JWT and password in a URL are masked: %s', (text, shown) => {
  expect(maskCredentials(text)).toBe(shown);
});
