import { expect, it } from 'vitest';
import { databaseWarning } from '../../config/database-warning.ts';

it('databaseWarning: a control plane for other machines without DATABASE_URL is named', () => {
  expect(databaseWarning({ role: 'control-plane', databaseUrl: null })).toContain('Set DATABASE_URL to a PostgreSQL server');
});

it.each([
  ['control-plane', 'postgresql://gateway@10.0.0.2:5432/gateway'],
  ['gateway', null],
  ['all', null],
] as const)('databaseWarning: role %s with the database %s has none', (role, databaseUrl) => {
  expect(databaseWarning({ role, databaseUrl })).toBe(null);
});
