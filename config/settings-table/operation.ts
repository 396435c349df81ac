import { flag, listOf, oneOf, text, wholeNumber } from '../setting-types.ts';
import { bytes, list, lowerCase, milliseconds, optional, row } from './kinds.ts';

export const observation = {
  logLevel: row(
    'LOG_LEVEL',
    'info',
    'Least severe log lines that are written.',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  ),
  logFormat: row(
    'LOG_FORMAT',
    'auto',
    'Format of log lines: json, pretty (for people), or auto, which is pretty on a terminal and json elsewhere.',
    oneOf(['auto', 'json', 'pretty']),
  ),
  metrics: row('METRICS', 'true', 'Whether gateways and the control plane serve GET /metrics.', flag()),
  metricsToken: optional(
    'METRICS_TOKEN',
    'Bearer token that GET /metrics requires. Unset: everybody who reaches the port can read the metrics.',
    text(/^[A-Za-z0-9._~+/=-]{16,200}$/, 'a token of 16 to 200 characters (generate one with `openssl rand -hex 32`)'),
    { secret: true },
  ),
  metricsLabels: list(
    'METRICS_LABELS',
    'Comma list of further labels of the control plane’s usage metrics: model, workspace, key (its id), key_name, config, metadata.<name>.',
    listOf(
      text(
        /^(?:model|workspace|key|key_name|config|metadata\.[A-Za-z_][A-Za-z0-9_]{0,62})$/,
        'model, workspace, key, key_name, config or metadata.<name> (letters, digits and _)',
      ),
    ),
  ),
  metricsSeriesMax: row(
    'METRICS_SERIES_MAX',
    '1000',
    'Series of usage metrics per control plane. Further combinations of labels count as other.',
    wholeNumber(1, 100_000),
  ),
};

export const bodiesInLogs = {
  logBodies: row(
    'LOG_BODIES',
    'off',
    'Stores headers and bodies of requests and replies for GET /v1/logs/{id}, sealed: `off`, `database` or `object_store` (OBJECT_STORE). Organisations and workspaces turn it off with `debug_log`, requests with `x-svc-debug: false`.',
    oneOf(['off', 'database', 'object_store']),
  ),
  logBodyBytesMax: row(
    'LOG_BODY_MAX',
    '262144',
    'Bytes of one body that logs store. The rest is cut off.',
    bytes(1_024, 4_194_304),
  ),
  logQueueBytesMax: row(
    'LOG_BODIES_QUEUE',
    '33554432',
    'Bytes of headers and bodies that wait in one gateway process to be stored. Beyond that they are dropped and counted; records are not.',
    bytes(65_536, 1_073_741_824),
  ),
  logMaskedFields: list(
    'LOG_MASKED_FIELDS',
    'Headers and fields of JSON bodies that logs mask besides credentials, separated by commas: x-user-email,patient_name.',
    listOf(lowerCase(text(/^[A-Za-z0-9_.-]{1,100}$/, 'a name of letters, digits, `_`, `.` or `-`'))),
  ),
};

export const shutdown = {
  drainDelayMs: row(
    'DRAIN_DELAY',
    '0',
    'Milliseconds between a stop signal, which turns /ready to 503, and the end of the listener. Load balancers need this time to notice.',
    wholeNumber(0, 600_000, 'milliseconds'),
  ),
  drainTimeoutMs: row('DRAIN_TIMEOUT', '30000', 'Milliseconds running requests may take after a stop signal.', milliseconds),
};

export const plugins = {
  plugins: list(
    'PLUGINS',
    'Comma list of files or npm packages of third-party plugins.',
    listOf(text(/^\S+$/, 'a file or package name')),
  ),
  providers: list(
    'PROVIDERS',
    'Comma list of files or npm packages of third-party providers. Gateways and the control plane load their declarations.',
    listOf(text(/^\S+$/, 'a file or package name')),
  ),
  hookTimeoutMs: row(
    'PLUGIN_HOOK_TIMEOUT',
    '2000',
    'Milliseconds one call of a hook of a third-party plugin may take before its request fails. A plugin may set its own limit.',
    wholeNumber(1, 600_000, 'milliseconds'),
  ),
};
