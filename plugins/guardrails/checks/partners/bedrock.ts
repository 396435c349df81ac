import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { definePartner, flag, secret, text } from './partner.ts';

const action = v.looseObject({ action: v.optional(v.nullable(v.string())) });
const actions = v.optional(v.nullable(v.array(action)));
const assessment = v.looseObject({
  sensitiveInformationPolicy: v.optional(v.nullable(v.looseObject({ piiEntities: actions, regexes: actions }))),
});
/** Policies that never change text: whatever they report is blocked. */
const blocking = ['topicPolicy', 'contentPolicy', 'wordPolicy', 'contextualGroundingPolicy'] as const;

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ApplyGuardrail.html */
export const bedrock = definePartner({
  id: 'bedrock.guard',
  sides: bothSides,
  parameters: {
    guardrailId: v.pipe(text, v.regex(/^[\w:/.-]+$/, 'expected an id or ARN')),
    guardrailVersion: v.pipe(v.string(), v.regex(/^(?:DRAFT|\d{1,8})$/, 'expected DRAFT or a number')),
    redact: flag(),
  },
  credentials: {
    awsAccessKeyId: secret,
    awsSecretAccessKey: secret,
    awsSessionToken: v.optional(secret),
    awsRegion: v.pipe(v.string(), v.regex(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'expected a region such as us-east-1')),
  },
  eachText: true,
  changes: ({ redact }) => redact,
  redacts: ({ redact }) => redact,
  response: v.looseObject({
    action: v.picklist(['NONE', 'GUARDRAIL_INTERVENED']),
    outputs: v.optional(v.array(v.looseObject({ text: v.string() })), []),
    assessments: v.optional(v.array(assessment), []),
  }),
  toRequest({ side, text: checked, parameters: { guardrailId, guardrailVersion }, credentials }) {
    const { awsAccessKeyId, awsSecretAccessKey, awsSessionToken = null, awsRegion } = credentials;
    const host = `https://bedrock-runtime.${awsRegion}.amazonaws.com`;
    return {
      url: `${host}/guardrail/${encodeURIComponent(guardrailId)}/version/${guardrailVersion}/apply`,
      headers: ['content-type', 'application/json'],
      body: { source: side === 'input' ? 'INPUT' : 'OUTPUT', content: [{ text: { text: checked } }] },
      aws: {
        ...{ service: 'bedrock', region: awsRegion, accessKeyId: awsAccessKeyId },
        ...{ secretAccessKey: awsSecretAccessKey, sessionToken: awsSessionToken },
      },
    };
  },
  toVerdict({ action: taken, outputs, assessments }, { parameters: { redact } }) {
    const data = { action: taken, assessments };
    if (taken === 'NONE') return { verdict: true, data };
    const policies = assessments.map((one) => one.sensitiveInformationPolicy);
    const found = policies.flatMap((policy) => [...(policy?.piiEntities ?? []), ...(policy?.regexes ?? [])]);
    const isMasked =
      found.some((one) => one.action === 'ANONYMIZED') &&
      found.every((one) => one.action !== 'BLOCKED') &&
      assessments.every((one) => blocking.every((policy) => one[policy] === undefined || one[policy] === null));
    const [output] = outputs;
    return redact && isMasked && output ? { verdict: true, data, texts: [output.text] } : { verdict: false, data };
  },
});
