import { randomBytes } from 'node:crypto';
import { newSecret } from '../../../admin/identity/one-time-secret.ts';
import { newJobCredential } from '../../../core/contract/protocol/credentials/job-credential.ts';
import { newOAuthToken } from '../../../core/contract/protocol/credentials/oauth-token.ts';
import { newApiKey } from '../../../core/contract/values/credentials/api-key.ts';

const letters = (length: number) => randomBytes(length).toString('hex').slice(0, length);
const grant = '00000000-0000-4000-8000-000000000000';

/** Makes credentials in the forms that callers, providers and this service use. */
export const credentials: Readonly<Record<string, () => string>> = {
  'a key of a workspace': () => newApiKey('ws').text,
  'a key of a user': () => newApiKey('user').text,
  'an admin key': () => newApiKey('admin').text,
  'a credential of a job': () => newJobCredential(randomBytes(32), 'aaaaaaaaaaaa', 0, 60),
  'an access token of an OAuth client': () => newOAuthToken(randomBytes(32), 'oauth', grant, 1),
  'a refresh token of an OAuth client': () => newOAuthToken(randomBytes(32), 'refresh', grant, 1),
  'a code of an OAuth client': () => newSecret('svc_code_'),
  'a session token': () => newSecret('svc_session_'),
  'a token of a directory': () => newSecret('svc_scim_'),
  'a token of an invitation': () => newSecret('svc_invite_'),
  'an OpenAI key': () => `sk-proj-${letters(40)}`,
  'an Anthropic key': () => `sk-ant-api03-${letters(60)}`,
  'a client secret of OpenAI': () => `ek_${letters(32)}`,
  'a client secret of this service': () => `ek_svc_${letters(400)}`,
  'a client secret of Gemini': () => `auth_tokens/${letters(64)}`,
  'a Google key': () => `AIza${letters(35)}`,
  'an AWS key id': () => `AKIA${letters(16).toUpperCase()}`,
  'a GitHub token': () => `ghp_${letters(36)}`,
  'a GitHub token of a user of an app': () => `ghu_${letters(36)}`,
  'a fine-grained GitHub token': () => `github_pat_${letters(22)}_${letters(50)}`,
  'a Slack token': () => `xoxb-${letters(12)}-${letters(24)}`,
  'a Hugging Face token': () => `hf_${letters(34)}`,
  'a key of xAI': () => `xai-${letters(80)}`,
  'a key of Perplexity': () => `pplx-${letters(48)}`,
  'a JWT': () => `eyJ${letters(30)}.${letters(60)}.${letters(40)}`,
  'a bearer token': () => `Bearer ${letters(32)}`,
  'a private key': () => `-----BEGIN PRIVATE KEY-----\n${letters(200)}\n-----END PRIVATE KEY-----`,
};

/** Returns the part of a credential that must not appear anywhere. */
export function secretOf(credential: string): string {
  return credential
    .replace(/-----[^-]+-----/g, '')
    .trim()
    .slice(-16);
}
