import type { Probe } from '../../support/refusal-suites.ts';

/** A guardrail that a gateway accepts. */
export const noSecrets = {
  name: 'No secrets',
  checks: [{ id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } }],
  actions: { deny: true },
};

/** Every route of guardrails. */
export function probes(name: string): Probe[] {
  const path = `/guardrails/${name}`;
  return [
    { method: 'GET', path: '/guardrails' },
    { method: 'POST', path: '/guardrails', body: noSecrets },
    { method: 'GET', path },
    { method: 'PUT', path, body: { name: 'Changed' } },
    { method: 'DELETE', path },
    { method: 'GET', path: `${path}/versions` },
    { method: 'GET', path: `${path}/versions/5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0001` },
  ];
}
