import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../support/plane.ts';
import { type ScimAsk, scimClient, scimClientWith } from '../../support/scim-client.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { entraSteps } from './entra-steps.ts';
import { javaSdkSteps } from './java-sdk-steps.ts';
import { oktaSteps } from './okta-steps.ts';

describe.each(ruleDatabases)('SCIM as directories use it, on %s', (database) => {
  let plane: Plane;
  let scim: ScimAsk;
  let known: Record<string, string>;
  beforeAll(async () => {
    plane = await startPlane(database);
    scim = await scimClient(plane);
  });
  afterAll(() => plane?.close());

  function fill<Value>(value: Value): Value {
    if (value === undefined) return value;
    return JSON.parse(JSON.stringify(value).replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => known[name] ?? `no ${name}`));
  }

  function read(body: unknown, path: string): string {
    const names = path.split(/[.[\]]+/).filter(Boolean);
    return String(names.reduce((at, name) => (at as Record<string, unknown>)?.[name], body));
  }

  it.each([
    ['the validator and the provisioning service of Microsoft Entra ID', entraSteps],
    ['the SCIM 2.0 tests and the provisioning of Okta', oktaSteps],
    ['the client of the Java library SCIM-SDK', javaSdkSteps],
  ])('passes the steps of %s', async (_, steps) => {
    known = { token: 'none', unknownId: '7f76453a-919d-4138-8190-4646281900aa' };
    for (const { what, send, status, reply, save = {}, withToken } of steps) {
      const [method, path, body] = fill(send);
      const ask = withToken === undefined ? scim : scimClientWith(plane, plane.organisationId, withToken);
      const found = await ask(method, encodeURI(path), body);
      expect({ what, status: found.status, body: found.body }).toMatchObject({
        what,
        status,
        ...(reply === undefined ? {} : { body: fill(reply) }),
      });
      if (status >= 300)
        expect({ what, type: found.headers.get('content-type') }).toEqual({ what, type: 'application/scim+json' });
      for (const [name, at] of Object.entries(save)) known[name] = read(found.body, at);
    }
  });
});
