import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  digestSecret,
  newApiKey,
  type StoredKey,
  verifyApiKey,
} from '../../../../../core/contract/values/credentials/api-key.ts';

const pepper = randomBytes(32);
const [current, previous] = [newApiKey('ws'), newApiKey('ws')];
const nowMs = 1_000_000;
const stored: StoredKey = {
  type: 'workspace-service',
  digest: digestSecret(pepper, current.secret),
  previousDigest: digestSecret(pepper, previous.secret),
  previousExpiresAtMs: nowMs + 10,
  expiresAtMs: null,
  secretExpiresAtMs: null,
};

describe('verifyApiKey', () => {
  it('accepts the current secret, without an end', () => {
    expect(verifyApiKey(current, stored, pepper, nowMs)).toEqual({ state: 'valid', endsAtMs: Number.POSITIVE_INFINITY });
  });

  it('accepts the previous secret until its transition ends', () => {
    expect(verifyApiKey(previous, stored, pepper, nowMs)).toEqual({ state: 'valid', endsAtMs: nowMs + 10 });
    expect(verifyApiKey(previous, stored, pepper, nowMs + 10)).toEqual({ state: 'invalid' });
    expect(verifyApiKey(previous, { ...stored, previousExpiresAtMs: null }, pepper, nowMs)).toEqual({ state: 'invalid' });
  });

  it('rejects an unknown key, another secret, another pepper and another kind', () => {
    expect(verifyApiKey(current, null, pepper, nowMs)).toEqual({ state: 'invalid' });
    expect(verifyApiKey(newApiKey('ws', current.id), stored, pepper, nowMs)).toEqual({ state: 'invalid' });
    expect(verifyApiKey(current, stored, randomBytes(32), nowMs)).toEqual({ state: 'invalid' });
    expect(verifyApiKey({ ...current, kind: 'user' }, stored, pepper, nowMs)).toEqual({ state: 'invalid' });
  });

  it('reports a key after its end as expired, for both secrets', () => {
    const ended = { ...stored, expiresAtMs: nowMs };
    expect(verifyApiKey(current, ended, pepper, nowMs)).toEqual({ state: 'expired' });
    expect(verifyApiKey(previous, ended, pepper, nowMs)).toEqual({ state: 'expired' });
  });

  it('reports a current secret with an overdue rotation', () => {
    const overdue = { ...stored, secretExpiresAtMs: nowMs };
    expect(verifyApiKey(current, overdue, pepper, nowMs)).toEqual({ state: 'overdue' });
    expect(verifyApiKey(previous, overdue, pepper, nowMs)).toEqual({ state: 'valid', endsAtMs: nowMs + 10 });
  });

  it('returns the earlier end of key and secret', () => {
    const both = { ...stored, expiresAtMs: nowMs + 5, secretExpiresAtMs: nowMs + 7 };
    expect(verifyApiKey(current, both, pepper, nowMs)).toEqual({ state: 'valid', endsAtMs: nowMs + 5 });
  });
});
