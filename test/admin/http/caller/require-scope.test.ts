import { describe, expect, it } from 'vitest';
import { scopesByType } from '../../../../admin/access/scopes.ts';
import type { Actor } from '../../../../admin/http/caller/actor.ts';
import { requireScope } from '../../../../admin/http/caller/require-scope.ts';
import type { ApiKeyType } from '../../../../core/contract/values/credentials/api-key.ts';

const actorOf = (type: ApiKeyType, scopes: string[], session?: Actor['session']): Actor => ({
  ...{ keyId: 'key', type, organisationId: 'o', workspaceId: null, userId: null },
  ...{ scopes: new Set(scopes), ...(session ? { session } : {}) },
});

describe('requireScope', () => {
  it('accepts a key with one of the scopes', () => {
    const actor = actorOf('workspace-service', ['logs.write']);
    expect(() => requireScope({ scopes: ['feedbacks.write', 'logs.write'] }, actor, scopesByType)).not.toThrow();
  });

  it('names the missing scope', () => {
    const actor = actorOf('workspace-service', []);
    expect(() => requireScope({ scopes: ['configs.list'] }, actor, scopesByType)).toThrow(
      /^This API key lacks the scope configs\.list$/,
    );
  });

  it('names the types of keys that can have the scope, if the type of this key cannot', () => {
    expect(() =>
      requireScope({ scopes: ['feedbacks.write', 'logs.write'] }, actorOf('organisation-service', []), scopesByType),
    ).toThrow(
      'This API key lacks the scope feedbacks.write or logs.write. Its type is organisation-service; only keys of type workspace-service or workspace-user can have this scope',
    );
    expect(() => requireScope({ scopes: ['audit_logs.list'] }, actorOf('workspace-user', []), scopesByType)).toThrow(
      'only keys of type organisation-service can have this scope',
    );
  });

  it('does not mention keys to a signed-in user', () => {
    const session: Actor['session'] = {
      ...{ userId: 'u', role: 'member', createdAt: new Date(), expiresAt: new Date(), memberships: new Map() },
    };
    expect(() => requireScope({ scopes: ['audit_logs.list'] }, actorOf('workspace-user', [], session), scopesByType)).toThrow(
      /^Your role lacks the scope audit_logs\.list$/,
    );
  });
});
