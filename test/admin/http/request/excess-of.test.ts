import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

describe('requests that are too long', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  /** Returns the status of a request with a target of so many bytes and so many headers. */
  function statusOf(targetBytes: number, headerCount: number): Promise<number | undefined> {
    const headers = ['host', 'a', 'connection', 'close', 'x-svc-api-key', plane.adminKey];
    while (headers.length < headerCount * 2) headers.push(`x-${headers.length}`, 'a');
    const path = '/v1/configs?search='.padEnd(targetBytes, 'a');
    return new Promise((resolve, reject) => {
      request(new URL(path, plane.url), { headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  }

  it.each([
    { what: 'a target of more than 8 KiB', targetBytes: 8_193, headerCount: 3, status: 414 },
    { what: 'more than 98 headers and those of a gateway', targetBytes: 19, headerCount: 105, status: 431 },
    { what: 'nothing with 98 headers and those of a gateway', targetBytes: 19, headerCount: 104, status: 200 },
    { what: 'only the field with a target of 8 KiB', targetBytes: 8_192, headerCount: 3, status: 400 },
  ])('are refused for $what', async ({ targetBytes, headerCount, status }) => {
    expect(await statusOf(targetBytes, headerCount)).toBe(status);
  });
});
