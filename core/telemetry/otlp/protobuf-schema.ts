import type { INamespace } from 'protobufjs';

type Field = readonly [number: number, type: string, rule?: 'repeated'];

/** The messages of OTLP 1.x that the service sends or reads, with the field numbers of the protocol. */
const messages: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  TracesRequest: { resourceSpans: [1, 'ResourceSpans', 'repeated'] },
  LogsRequest: { resourceLogs: [1, 'ResourceLogs', 'repeated'] },
  MetricsRequest: { resourceMetrics: [1, 'ResourceMetrics', 'repeated'] },
  Response: { partialSuccess: [1, 'PartialSuccess'] },
  /** Body of an error: the message of `google.rpc.Status`, whose code OTLP does not use. */
  Failure: { message: [2, 'string'] },
  PartialSuccess: { rejected: [1, 'int64'], errorMessage: [2, 'string'] },

  ResourceSpans: { resource: [1, 'Resource'], scopeSpans: [2, 'ScopeSpans', 'repeated'], schemaUrl: [3, 'string'] },
  ResourceLogs: { resource: [1, 'Resource'], scopeLogs: [2, 'ScopeLogs', 'repeated'], schemaUrl: [3, 'string'] },
  ResourceMetrics: { resource: [1, 'Resource'], scopeMetrics: [2, 'ScopeMetrics', 'repeated'], schemaUrl: [3, 'string'] },
  ScopeSpans: { scope: [1, 'Scope'], spans: [2, 'Span', 'repeated'], schemaUrl: [3, 'string'] },
  ScopeLogs: { scope: [1, 'Scope'], logRecords: [2, 'LogRecord', 'repeated'], schemaUrl: [3, 'string'] },
  ScopeMetrics: { scope: [1, 'Scope'], metrics: [2, 'Metric', 'repeated'], schemaUrl: [3, 'string'] },
  Resource: { attributes: [1, 'KeyValue', 'repeated'] },
  Scope: { name: [1, 'string'], version: [2, 'string'] },

  KeyValue: { key: [1, 'string'], value: [2, 'AnyValue'] },
  AnyValue: {
    stringValue: [1, 'string'],
    boolValue: [2, 'bool'],
    intValue: [3, 'int64'],
    doubleValue: [4, 'double'],
    arrayValue: [5, 'ArrayValue'],
    kvlistValue: [6, 'KeyValueList'],
    bytesValue: [7, 'bytes'],
  },
  ArrayValue: { values: [1, 'AnyValue', 'repeated'] },
  KeyValueList: { values: [1, 'KeyValue', 'repeated'] },

  Span: {
    traceId: [1, 'bytes'],
    spanId: [2, 'bytes'],
    traceState: [3, 'string'],
    parentSpanId: [4, 'bytes'],
    name: [5, 'string'],
    kind: [6, 'int32'],
    startTimeUnixNano: [7, 'fixed64'],
    endTimeUnixNano: [8, 'fixed64'],
    attributes: [9, 'KeyValue', 'repeated'],
    events: [11, 'Event', 'repeated'],
    status: [15, 'Status'],
  },
  Event: { timeUnixNano: [1, 'fixed64'], name: [2, 'string'], attributes: [3, 'KeyValue', 'repeated'] },
  Status: { message: [2, 'string'], code: [3, 'int32'] },

  LogRecord: {
    timeUnixNano: [1, 'fixed64'],
    severityNumber: [2, 'int32'],
    severityText: [3, 'string'],
    body: [5, 'AnyValue'],
    attributes: [6, 'KeyValue', 'repeated'],
    traceId: [9, 'bytes'],
    spanId: [10, 'bytes'],
    observedTimeUnixNano: [11, 'fixed64'],
    eventName: [12, 'string'],
  },

  Metric: {
    name: [1, 'string'],
    description: [2, 'string'],
    unit: [3, 'string'],
    gauge: [5, 'Gauge'],
    sum: [7, 'Sum'],
    histogram: [9, 'Histogram'],
  },
  Gauge: { dataPoints: [1, 'NumberPoint', 'repeated'] },
  Sum: { dataPoints: [1, 'NumberPoint', 'repeated'], aggregationTemporality: [2, 'int32'], isMonotonic: [3, 'bool'] },
  Histogram: { dataPoints: [1, 'HistogramPoint', 'repeated'], aggregationTemporality: [2, 'int32'] },
  NumberPoint: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    asDouble: [4, 'double'],
    attributes: [7, 'KeyValue', 'repeated'],
  },
  HistogramPoint: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    count: [4, 'fixed64'],
    sum: [5, 'double'],
    bucketCounts: [6, 'fixed64', 'repeated'],
    explicitBounds: [7, 'double', 'repeated'],
    attributes: [9, 'KeyValue', 'repeated'],
  },
};

/** Members of which one is set. Their presence counts, also with the value 0, false or ''. */
const choices: Readonly<Record<string, readonly string[]>> = {
  AnyValue: Object.keys(messages.AnyValue as object),
  NumberPoint: ['asDouble'],
  Metric: ['gauge', 'sum', 'histogram'],
};

/** The same in the form that protobufjs reads. */
export const schema: INamespace = {
  options: { syntax: 'proto3' },
  nested: Object.fromEntries(
    Object.entries(messages).map(([name, fields]) => [
      name,
      {
        ...(choices[name] ? { oneofs: { chosen: { oneof: [...choices[name]] } } } : undefined),
        fields: Object.fromEntries(
          Object.entries(fields).map(([field, [id, type, rule]]) => [field, { id, type, ...(rule ? { rule } : undefined) }]),
        ),
      },
    ]),
  ),
} as INamespace;
