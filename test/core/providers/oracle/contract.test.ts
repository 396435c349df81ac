import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import { oracle } from '../../../../core/providers/oracle/index.ts';
import {
  chatReply,
  createHarness,
  providerDocument,
  replyWith,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';
import { callOf, providerContractSuite } from '../contract-suite.ts';

const region = { oracle_region: 'us-chicago-1' };
providerContractSuite(oracle, {
  settings: region,
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls' },
});

const compartment = 'ocid1.compartment.oc1..aaaa';
const fingerprint = '20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34';
const user = { oracle_tenancy: 'ocid1.tenancy.oc1..t', oracle_user: 'ocid1.user.oc1..u', oracle_fingerprint: fingerprint };
const passphrase = 'open sesame';
const keys = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase },
});

async function sentBy(secrets: object) {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/oci`, {
    ...providerDocument('oci', 'oracle'),
    settings: { ...region, ...user, oracle_compartment_id: compartment },
    secrets: JSON.stringify(secrets),
  });
  gateway.script(replyWith(200, chatReply('hello')));
  const body = { model: '@oci/meta.llama-3.3-70b-instruct', messages: [{ role: 'user', content: 'grüße' }] };
  const reply = await gateway.send({ body });
  return { reply, gateway, call: gateway.calls[0] };
}

describe('calls to oracle', () => {
  it('are signed as the user, over date, target, host and body', async () => {
    const { reply, call } = await sentBy({ oracle_private_key: keys.privateKey, oracle_key_passphrase: passphrase });
    expect(reply.status).toBe(200);
    expect(`${call?.origin}${call?.path}`).toBe(
      'https://inference.generativeai.us-chicago-1.oci.oraclecloud.com/openai/v1/chat/completions',
    );
    const headers = call?.headers ?? [];
    expect(findHeader(headers, 'opc-compartment-id')).toBe(compartment);
    const authorization = findHeader(headers, 'authorization') ?? '';
    const field = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(authorization)?.[1] ?? '';
    expect(field('keyId')).toBe(`${user.oracle_tenancy}/${user.oracle_user}/${fingerprint}`);
    expect(field('headers')).toBe('date (request-target) host content-length content-type x-content-sha256');
    const body = Buffer.from(call?.body as Uint8Array);
    const digest = createHash('sha256').update(body).digest('base64');
    expect(findHeader(headers, 'x-content-sha256')).toBe(digest);
    const signed = [
      `date: ${findHeader(headers, 'date')}`,
      '(request-target): post /openai/v1/chat/completions',
      'host: inference.generativeai.us-chicago-1.oci.oraclecloud.com',
      `content-length: ${body.length}`,
      `content-type: ${findHeader(headers, 'content-type')}`,
      `x-content-sha256: ${digest}`,
    ].join('\n');
    expect(verify('sha256', Buffer.from(signed), keys.publicKey, Buffer.from(field('signature'), 'base64'))).toBe(true);
  });

  it('use a key of the service if there is one', async () => {
    const { call } = await sentBy({ api_key: 'sk-oci' });
    expect(findHeader(call?.headers ?? [], 'authorization')).toBe('Bearer sk-oci');
    expect(findHeader(call?.headers ?? [], 'x-content-sha256')).toBeUndefined();
  });

  it('are rejected with the missing setting, never with the key', async () => {
    const none = await sentBy({});
    expect([none.reply.status, none.gateway.calls.length]).toEqual([400, 0]);
    expect(none.reply.text).toContain('oracle_private_key');
    const wrong = await sentBy({ oracle_private_key: keys.privateKey, oracle_key_passphrase: 'wrong' });
    expect([wrong.reply.status, wrong.gateway.calls.length]).toEqual([400, 0]);
    expect(wrong.reply.text).not.toContain('BEGIN');
  });
});

describe('the address and serving mode of oracle', () => {
  const chat = oracle.operations.chatComplete as Operation;
  it('has a version in its path if one is set', () => {
    expect(chat.path(callOf({ model: 'm' }, {}, { ...region, oracle_api_version: '20231130' }))).toBe(
      '/20231130/actions/v1/chat/completions',
    );
    expect(() => oracle.baseUrl({})).toThrow(/oracle_region/);
  });

  it('rejects other serving modes than the configured one', () => {
    const ask = (model: string, mode: string) =>
      chat.toProvider?.({ model }, callOf({ model }, {}, { oracle_serving_mode: mode }));
    expect(() => ask('meta.llama', 'DEDICATED')).toThrow(/model: the OCID/);
    expect(() => ask('ocid1.generativeaiendpoint.oc1..x', 'ON_DEMAND')).toThrow(/model: the name/);
    expect(ask('meta.llama', 'ON_DEMAND')).toEqual({ model: 'meta.llama' });
  });
});
