import { flag, oneOf, text, url, wholeNumber } from '../setting-types.ts';
import { milliseconds, optional, row } from './kinds.ts';
import { pairs } from './pairs.ts';

const exporter = oneOf(['otlp', 'none']);
const endpoint = (path: string) => url(['http', 'https'], `a URL such as http://127.0.0.1:4318${path}`);

export const openTelemetry = {
  otelDisabled: row('OTEL_SDK_DISABLED', 'false', 'Turns all export of OpenTelemetry off.', flag()),
  otlpUrl: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Base URL of an OTLP/HTTP collector; `/v1/traces`, `/v1/metrics` and `/v1/logs` are appended. Unset: nothing is exported.',
    endpoint(''),
    { secret: true },
  ),
  otlpTracesUrl: optional('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'Complete URL for traces.', endpoint('/v1/traces'), {
    secret: true,
  }),
  otlpMetricsUrl: optional('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'Complete URL for metrics.', endpoint('/v1/metrics'), {
    secret: true,
  }),
  otlpLogsUrl: optional('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', 'Complete URL for logs.', endpoint('/v1/logs'), { secret: true }),
  otlpHeaders: optional(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'Headers of every export, such as `api-key=secret`: pairs with commas between, values percent-encoded.',
    pairs(true, 'pairs such as api-key=secret, with commas between and percent-encoded values'),
    { secret: true },
  ),
  otlpProtocol: row('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', 'Encoding of exports.', oneOf(['http/json', 'http/protobuf'])),
  otlpCompression: row('OTEL_EXPORTER_OTLP_COMPRESSION', 'none', 'Compression of exports.', oneOf(['none', 'gzip'])),
  otlpTimeoutMs: row(
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    '10000',
    'Milliseconds one export may take.',
    wholeNumber(1, 600_000, 'milliseconds'),
  ),
  otelTraces: row('OTEL_TRACES_EXPORTER', 'otlp', 'none: the control plane exports no traces.', exporter),
  otelMetrics: row('OTEL_METRICS_EXPORTER', 'otlp', 'none: no process exports metrics.', exporter),
  otelLogs: row(
    'OTEL_LOGS_EXPORTER',
    'none',
    'otlp: the control plane also exports one log record per request. Traces hold the same facts.',
    exporter,
  ),
  otelContent: row(
    'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
    'no_content',
    'span_only: spans also have the messages and parameters of requests whose bodies are logged (LOG_BODIES), credentials masked.',
    oneOf(['no_content', 'span_only']),
  ),
  otelContentCharsMax: row(
    'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
    '32768',
    'Characters of one list of messages in a span. Older messages and the ends of texts are left out.',
    wholeNumber(100, 1_000_000),
  ),
  traceContextToProviders: row(
    'TRACE_CONTEXT_TO_PROVIDERS',
    'false',
    'Whether calls to providers, MCP servers and agents have a traceparent header with the trace and the span of the attempt. They can then link requests.',
    flag(),
  ),
  otelServiceName: row(
    'OTEL_SERVICE_NAME',
    'svc-gateway',
    'Value of `service.name` on everything that is exported.',
    text(/^.{1,200}$/, 'a name of 1 to 200 characters'),
  ),
  otelResource: optional(
    'OTEL_RESOURCE_ATTRIBUTES',
    'Further attributes of every export, such as `deployment.environment.name=production`: pairs with commas between.',
    pairs(false, 'pairs such as deployment.environment.name=production, with commas between and percent-encoded values'),
  ),
  otelQueueMax: row(
    'OTEL_BSP_MAX_QUEUE_SIZE',
    '8192',
    'Requests that wait in memory to be exported. Further ones are dropped and counted in svc_otlp_items_total.',
    wholeNumber(1, 1_000_000),
  ),
  otelBatchMax: row(
    'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    '512',
    'Requests per export; fewer if their content is long.',
    wholeNumber(1, 10_000),
  ),
  otelDelayMs: row(
    'OTEL_BSP_SCHEDULE_DELAY',
    '5000',
    'Milliseconds that a request waits for others to be exported with.',
    milliseconds,
  ),
  otelMetricMs: row(
    'OTEL_METRIC_EXPORT_INTERVAL',
    '60000',
    'Milliseconds between two exports of metrics.',
    wholeNumber(100, 86_400_000, 'milliseconds'),
  ),
};
