import type { Plugin } from 'rolldown';

/** Packages that each start of the product loads, in hundreds of files. A name that ends with `-` or `/` stands for all that begin with it. */
const names: readonly string[] = `
  @datadog/sketches-js @fastify/busboy @hono/node-server @mikro-orm/ @opentelemetry/api @pydantic/genai-prices @smithy/
  @valibot/to-json-schema bintrees csv-parse hono ipaddr.js jose kysely lru-cache oauth4webapi openid-client otpauth
  pg pg- postgres- prom-client re2js scim2-parse-filter tdigest valibot ws
`
  .trim()
  .split(/\s+/);

const isHttp = (source: string): boolean => /^(node:)?http$/.test(source);

/** True for what `httpWithoutFetch` replaces too. */
export function isPackageOfStart(source: string): boolean {
  if (isHttp(source)) return true;
  return names.some((name) => source === name || source.startsWith(/[-/]$/.test(name) ? name : `${name}/`));
}

/**
 * Imports `node:http` without its members for `fetch`. A module that imports the name makes Node load its HTTP client behind them: 60 ms
 * of CPU time and 10 MB.
 */
export const httpWithoutFetch: Plugin = {
  name: 'http-without-fetch',
  resolveId: (source) => (isHttp(source) ? '\0http' : null),
  load(id) {
    if (id !== '\0http') return null;
    const members = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule('node:http'))).filter(
      ([, { get }]) => get === undefined,
    );
    const exported = members.map(([name]) => name).join(', ');
    return `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${exported} } = http;`;
  },
};
