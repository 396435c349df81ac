import type { Settings } from '../../config/settings.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { createSessions } from '../realtime/sessions.ts';

/** Opens the WebSocket sessions of this process, with the limits of the settings. */
export function openSessions(settings: Settings, clock: Clock) {
  return createSessions({
    sessionsMax: settings.realtimeSessionsMax,
    ownerMax: {
      organisation: settings.realtimeSessionsPerOrganisationMax,
      workspace: settings.realtimeSessionsPerWorkspaceMax,
      key: settings.realtimeSessionsPerKeyMax,
    },
    recordMs: settings.realtimeRecordMs,
    jsonValuesMax: settings.jsonValuesMax,
    idleMs: settings.realtimeIdleMs,
    totalMs: settings.realtimeTotalMs,
    messageBytesMax: settings.realtimeMessageBytesMax,
    clock,
  });
}
