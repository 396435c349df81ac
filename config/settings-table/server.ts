import { resolve } from 'node:path';
import * as v from 'valibot';
import {
  isAddressOrRange,
  listOf,
  natsUrls,
  oneOf,
  readableFile,
  type SettingType,
  text,
  wholeNumber,
} from '../setting-types.ts';
import { derived, host, list, lowerCase, optional, port, row } from './kinds.ts';

export const server = {
  host: row('HOST', '127.0.0.1', 'Address the gateway listens on. 0.0.0.0 stands for every address.', host),
  port: row('PORT', '8787', 'Port the gateway listens on.', port),
  role: row(
    'ROLE',
    'all',
    'Processes this machine runs: gateways, the control plane, or both.',
    oneOf(['all', 'gateway', 'control-plane']),
  ),
  gatewayProcesses: derived<number>(
    'GATEWAY_PROCESSES',
    'cores − 1, at least 2',
    'Number of gateway processes that share the port.',
    wholeNumber(1, 1024),
  ),
  watchdogMs: row(
    'WATCHDOG_TIMEOUT',
    '10000',
    'Milliseconds for which the event loop of a gateway process may stand still before the supervisor replaces the process. 0 turns this off.',
    {
      schema: v.pipe(
        wholeNumber(0, 3_600_000).schema,
        v.check((ms) => ms === 0 || ms >= 500),
      ),
      expected: '0, or 500 to 3600000 milliseconds',
    },
  ),
  dataDir: row('DATA_DIR', '.data', 'Folder of the embedded database, unshipped records, cached documents and generated keys.', {
    schema: v.pipe(
      v.string(),
      v.minLength(1),
      v.transform((path) => resolve(path)),
    ),
    expected: 'the path of a folder',
  }),
  natsUrl: optional(
    'NATS_URL',
    'NATS server that carries change notices between machines. Unset: processes of one machine notify each other.',
    natsUrls(),
    { secret: true },
  ),
};

/** Forms of NO_PROXY that are neither an address nor a range. */
const proxyException = /^(\*|(\[[0-9A-Fa-f:.]+\]|(\*?\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)(:\d{1,5})?)$/;

const proxyUrl: SettingType<string> = {
  schema: v.pipe(
    v.string(),
    v.check((given) => {
      const parsed = URL.parse(given);
      return /^https?:\/\/[^/?#]+\/?$/i.test(given) && parsed !== null && [parsed.username, parsed.password].every(isDecodable);
    }),
  ),
  expected: 'a URL such as http://proxy.example.com:3128 or http://user:password@proxy.example.com:3128',
};

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const prefixPattern = /^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*-$/;

export const edge = {
  tlsCert: optional('TLS_CERT', 'PEM file of the gateway’s certificate. Requires TLS_KEY.', readableFile('PEM file')),
  tlsKey: optional('TLS_KEY', 'PEM file of the private key of TLS_CERT.', readableFile('PEM file')),
  corsOrigins: list(
    'CORS_ORIGINS',
    'Comma list of origins that browsers may call the gateway from. * allows every origin. Unset: CORS is off.',
    listOf({
      schema: v.pipe(
        v.string(),
        v.check((origin) => origin === '*' || URL.parse(origin)?.origin === origin),
      ),
      expected: 'an origin such as https://app.example.com, or *',
    }),
  ),
  trustedProxies: list(
    'TRUSTED_PROXIES',
    'Comma list of addresses or CIDR ranges of proxies. The gateway takes the caller’s address from their `x-forwarded-for`, and its own from `x-forwarded-proto` and `x-forwarded-host`.',
    listOf({
      schema: v.pipe(v.string(), v.check(isAddressOrRange)),
      expected: 'an address or a CIDR range such as 10.0.0.0/8',
    }),
  ),
  httpsProxy: optional(
    'HTTPS_PROXY',
    'HTTP proxy through which gateways reach https addresses: providers, webhooks, MCP servers and all others. Unset: they are called directly. Hosts of TRUSTED_CUSTOM_HOSTS and http addresses are always called directly.',
    proxyUrl,
    { secret: true },
  ),
  noProxy: list(
    'NO_PROXY',
    'Comma list of hosts that are called without HTTPS_PROXY. A name stands for the names below it too.',
    listOf({
      schema: v.pipe(
        v.string(),
        v.check((entry) => isAddressOrRange(entry) || proxyException.test(entry)),
      ),
      expected: 'a host, .domain, an address or a CIDR range, with an optional port, or *',
    }),
  ),
  countryHeader: optional(
    'COUNTRY_HEADER',
    'Header in which trusted proxies send the caller’s country, for the audit trail. The proxies must remove this header from client requests.',
    lowerCase(text(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'the name of a header such as cf-ipcountry')),
  ),
  headerPrefix: row(
    'HEADER_PREFIX',
    'x-svc-',
    'Prefix of the gateway’s own headers.',
    lowerCase(text(prefixPattern, 'a header prefix that ends with -, such as x-svc-')),
  ),
  headerPrefixAliases: list(
    'HEADER_PREFIX_ALIASES',
    'Comma list of further prefixes that requests may use. Replies repeat the gateway’s headers under each of them.',
    listOf(lowerCase(text(prefixPattern, 'a header prefix that ends with -'))),
  ),
  keepAliveWithoutBody: row(
    'KEEP_ALIVE_WITHOUT_BODY',
    'auto',
    'auto: close a connection after a request without a body if the HTTP binary accepts empty header names. on: keep it open.',
    oneOf(['auto', 'on']),
  ),
  uwsBinary: row(
    'UWS_BINARY',
    'auto',
    'HTTP server binary to load. auto prefers uwsjs if it is installed and runs here.',
    text(/^(?:auto|uws-pack|uwsjs|\/.+\.node)$/, 'auto, uws-pack, uwsjs or the path of a .node file'),
  ),
};
