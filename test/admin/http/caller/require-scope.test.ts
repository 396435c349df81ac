import { describe, expect, it } from 'vitest';
import { scopesByType } from '../../../../admin/access/scopes.ts';
import type { Actor } from '../../../../admin/http/caller/actor.ts';
import { holderOf, lacksScope, requireScope } from '../../../../admin/http/caller/require-scope.ts';
import { requireScope as requireGuardrailScope } from '../../../../admin/resources/guardrails/service.ts';
import { requireOwner } from '../../../../admin/resources/integrations/service.ts';
import { mcpIntegrationAccess } from '../../../../admin/resources/mcp-integrations/service.ts';
import type { ApiKeyType } from '../../../../core/contract/values/credentials/api-key.ts';

const actorOf = (type: ApiKeyType, scopes: string[], session?: Actor['session']): Actor => ({
  ...{ keyId: 'key', type, organisationId: 'o', workspaceId: null, userId: null },
  ...{ scopes: new Set(scopes), ...(session ? { session } : {}) },
});

const session: Actor['session'] = {
  ...{ userId: 'u', role: 'member', createdAt: new Date(), expiresAt: new Date(), memberships: new Map() },
};
const token: Actor = { ...actorOf('workspace-user', []), tokenSubject: 'someone' };

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
    expect(() => requireScope({ scopes: ['audit_logs.list'] }, actorOf('workspace-user', [], session), scopesByType)).toThrow(
      /^Your role lacks the scope audit_logs\.list$/,
    );
  });

  it('does not mention keys to a caller with a JWT', () => {
    expect(() => requireScope({ scopes: ['audit_logs.list'] }, token, scopesByType)).toThrow(
      /^This JWT lacks the scope audit_logs\.list$/,
    );
  });
});

describe('errors of a missing scope', () => {
  const key = actorOf('workspace-service', []);
  const user = actorOf('workspace-user', [], session);

  it('name what holds the scopes of the caller', () => {
    expect([key, user, token].map(holderOf)).toEqual(['This API key', 'Your role', 'This JWT']);
    expect(lacksScope(user, ['a.read', 'b.read']).message).toBe('Your role lacks the scope a.read or b.read');
  });

  it('are the same for integrations, guardrails and routes', () => {
    const own = { workspaceId: null } as const;
    for (const actor of [key, user, token]) {
      const refuse = [
        () =>
          requireScope({ scopes: ['organisation_guardrails.read'] }, actor, {
            ...scopesByType,
            [actor.type]: new Set(['organisation_guardrails.read']),
          }),
        () => requireGuardrailScope(actor, own, 'read'),
      ];
      for (const each of refuse) expect(each).toThrow(`${holderOf(actor)} lacks the scope organisation_guardrails.read`);
      expect(() => requireOwner(actor, null, 'read')).toThrow(
        `${holderOf(actor)} lacks the scope organisation_integrations.read`,
      );
      expect(() => mcpIntegrationAccess.requireOwner(actor, null, 'read')).toThrow(
        `${holderOf(actor)} lacks the scope organisation_mcp_integrations.read`,
      );
    }
  });
});
