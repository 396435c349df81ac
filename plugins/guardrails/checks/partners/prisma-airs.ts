import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { definePartner, secret, text } from './partner.ts';

/** https://pan.dev/prisma-airs */
export const prismaAirs = definePartner({
  id: 'panw-prisma-airs.intercept',
  sides: bothSides,
  parameters: {
    profile_name: v.optional(text),
    profile_id: v.optional(text),
    ai_model: v.optional(text, 'unknown-model'),
    app_user: v.optional(text, 'svc-gateway'),
    app_name: v.optional(text),
  },
  credentials: { AIRS_API_KEY: secret },
  response: v.looseObject({ action: v.string() }),
  toRequest({ side, text: checked, subject, parameters, credentials }) {
    const { profile_name, profile_id, ai_model, app_user, app_name } = parameters;
    const profile = {
      ...(profile_name === undefined ? {} : { profile_name }),
      ...(profile_id === undefined ? {} : { profile_id }),
    };
    return {
      url: 'https://service.api.aisecurity.paloaltonetworks.com/v1/scan/sync/request',
      headers: ['x-pan-token', credentials.AIRS_API_KEY],
      body: {
        tr_id: subject.ctx.traceId,
        metadata: { ai_model, app_user, ...(app_name === undefined ? {} : { app_name }) },
        contents: [{ [side === 'input' ? 'prompt' : 'response']: checked }],
        ...(Object.keys(profile).length === 0 ? {} : { ai_profile: profile }),
      },
    };
  },
  toVerdict: (response) => ({ verdict: response.action === 'allow', data: response }),
});
