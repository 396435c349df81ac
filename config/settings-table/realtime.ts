import { wholeNumber } from '../setting-types.ts';
import { bytes, count, milliseconds, row } from './kinds.ts';

export const realtime = {
  realtimeSessionsMax: row(
    'REALTIME_SESSIONS_MAX',
    '1000',
    'WebSocket sessions of one gateway process before it replies 503.',
    count,
  ),
  realtimeSessionsPerOrganisationMax: row(
    'REALTIME_SESSIONS_PER_ORGANISATION',
    '500',
    'WebSocket sessions of one organisation in one gateway process before it replies 429. 0 = no limit.',
    count,
  ),
  realtimeSessionsPerWorkspaceMax: row(
    'REALTIME_SESSIONS_PER_WORKSPACE',
    '500',
    'WebSocket sessions of one workspace in one gateway process before it replies 429. 0 = no limit.',
    count,
  ),
  realtimeSessionsPerKeyMax: row(
    'REALTIME_SESSIONS_PER_KEY',
    '250',
    'WebSocket sessions of one API key in one gateway process before it replies 429. 0 = no limit.',
    count,
  ),
  realtimeMessageBytesMax: row(
    'REALTIME_MESSAGE_MAX',
    '16777216',
    'Bytes of one WebSocket message in either direction.',
    bytes(1024, 268_435_456),
  ),
  realtimeIdleMs: row(
    'REALTIME_IDLE_TIMEOUT',
    '600000',
    'Milliseconds without a message after which the gateway closes a WebSocket session. 0 = no limit.',
    milliseconds,
  ),
  realtimeTotalMs: row(
    'REALTIME_SESSION_TIMEOUT',
    '7200000',
    'Milliseconds a WebSocket session may last. 0 = no limit.',
    milliseconds,
  ),
  realtimeDrainMs: row(
    'REALTIME_DRAIN_TIMEOUT',
    '10000',
    'Milliseconds WebSocket sessions may continue after a stop signal. At most DRAIN_TIMEOUT.',
    milliseconds,
  ),
  realtimeRecordMs: row(
    'REALTIME_RECORD_INTERVAL',
    '10000',
    'Milliseconds between two writes of an open session’s usage. A killed process loses at most this much.',
    wholeNumber(100, 3_600_000),
  ),
};
