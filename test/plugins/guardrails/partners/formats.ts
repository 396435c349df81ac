import { expect } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { evaluatorFormats } from './evaluator-formats.ts';

/** Exchanges with the service of one check, in the format that its maker publishes. */
export interface Format {
  readonly id: string;
  readonly side: 'input' | 'output';
  readonly parameters?: JsonObject;
  readonly credentials: JsonObject;
  readonly url: string;
  readonly headers: readonly string[];
  /** The body for the text `hello world`, and on the output side the response `hello`. */
  readonly body: JsonObject;
  readonly pass: JsonObject;
  readonly block: JsonObject;
  /** A reply that changes the text into `changed`, with the parameters that allow it. */
  readonly redact?: { readonly parameters: JsonObject; readonly reply: JsonObject };
}

const apiKey = { apiKey: 'k-1' };
const bearer = ['authorization', 'Bearer k-1'];
const user = { role: 'user', content: 'hello world' };
const assistant = { role: 'assistant', content: 'hello' };
const azure = { resourceName: 'res', apiKey: 'k-1' };
const azureKey = ['ocp-apim-subscription-key', 'k-1'];
const azureUrl = 'https://res.cognitiveservices.azure.com';
const token = `x.${Buffer.from('{"opaque":{"apex-url":"https://apex.example.com/"}}').toString('base64url')}.y`;

const bedrock = { awsAccessKeyId: 'AK', awsSecretAccessKey: 'k-1', awsSessionToken: 'st', awsRegion: 'eu-west-1' };

export const formats: readonly Format[] = [
  {
    ...{ id: 'bedrock.guard', side: 'input', parameters: { guardrailId: 'g1', guardrailVersion: '2' }, credentials: bedrock },
    url: 'https://bedrock-runtime.eu-west-1.amazonaws.com/guardrail/g1/version/2/apply',
    headers: [
      ...[
        'content-type',
        'application/json',
        'x-amz-date',
        expect.stringMatching(/^\d{8}T\d{6}Z$/),
        'x-amz-security-token',
        'st',
      ],
      ...['authorization', expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AK\/\d{8}\/eu-west-1\/bedrock\/aws4_request, /)],
    ],
    body: { source: 'INPUT', content: [{ text: { text: 'hello world' } }] },
    pass: { action: 'NONE', outputs: [], assessments: [{}], usage: {} },
    block: { action: 'GUARDRAIL_INTERVENED', outputs: [{ text: 'no' }], assessments: [{ topicPolicy: { topics: [] } }] },
    redact: {
      parameters: { redact: true },
      reply: {
        action: 'GUARDRAIL_INTERVENED',
        outputs: [{ text: 'changed' }],
        assessments: [
          { sensitiveInformationPolicy: { piiEntities: [{ type: 'NAME', match: 'x', action: 'ANONYMIZED' }], regexes: [] } },
        ],
      },
    },
  },
  {
    ...{ id: 'acuvity.scan', side: 'input', credentials: { apiKey: token }, url: 'https://apex.example.com/_acuvity/scan' },
    headers: ['authorization', `Bearer ${token}`],
    body: { anonymization: 'FixedSize', messages: ['hello world'], redactions: [], type: 'Input' },
    pass: { extractions: [{ data: 'hello world', exploits: { prompt_injection: 0.1 }, languages: { english: 1 } }] },
    block: { extractions: [{ data: 'hello world', exploits: { prompt_injection: 0.9 } }] },
    redact: {
      parameters: { pii_redact: true, pii_categories: ['email_address'] },
      reply: { extractions: [{ data: 'changed', piIs: { email_address: 1 } }] },
    },
  },
  {
    ...{ id: 'akto.scan', side: 'input', credentials: { ...apiKey, apiDomain: 'akto.example.com' } },
    ...{ url: 'https://akto.example.com/api/validate/request', headers: bearer },
    body: { payload: '{"prompt":"hello world","model":"m"}' },
    pass: { Allowed: true, Modified: false, ModifiedPayload: '', Reason: '', Metadata: {} },
    block: { Allowed: false, Modified: false, ModifiedPayload: '', Reason: 'policy', Metadata: {} },
  },
  {
    ...{ id: 'aporia.validateProject', side: 'output', parameters: { projectID: 'p-1' }, credentials: apiKey },
    ...{ url: 'https://gr-prd.aporia.com/p-1/validate', headers: ['x-aporia-api-key', 'k-1'] },
    body: { messages: [user], response: 'hello', validation_target: 'response', explain: true },
    pass: { action: 'passthrough', revised_response: null },
    block: { action: 'block', revised_response: 'no' },
  },
  {
    ...{ id: 'azure.contentSafety', side: 'input', credentials: azure, headers: azureKey },
    url: `${azureUrl}/contentsafety/text:analyze?api-version=2024-09-01`,
    body: { text: 'hello world', categories: ['Hate', 'SelfHarm', 'Sexual', 'Violence'], blocklistNames: [] },
    pass: { categoriesAnalysis: [{ category: 'Hate', severity: 0 }], blocklistsMatch: [] },
    block: { categoriesAnalysis: [{ category: 'Hate', severity: 4 }], blocklistsMatch: [] },
  },
  {
    ...{ id: 'azure.pii', side: 'input', credentials: azure, headers: azureKey },
    url: `${azureUrl}/language/:analyze-text?api-version=2024-11-01`,
    body: {
      kind: 'PiiEntityRecognition',
      parameters: { domain: 'none', modelVersion: 'latest' },
      analysisInput: { documents: [{ id: '0', text: 'hello world', language: 'en' }] },
    },
    pass: {
      kind: 'PiiEntityRecognitionResults',
      results: { documents: [{ id: '0', redactedText: 'hello world', entities: [] }], errors: [] },
    },
    block: {
      results: { documents: [{ id: '0', redactedText: '*****', entities: [{ text: 'x', category: 'Person' }] }], errors: [] },
    },
    redact: {
      parameters: { redact: true },
      reply: { results: { documents: [{ id: '0', redactedText: 'changed', entities: [{ category: 'Person' }] }], errors: [] } },
    },
  },
  {
    ...{ id: 'azure.shieldPrompt', side: 'input', credentials: azure, headers: azureKey },
    url: `${azureUrl}/contentsafety/text:shieldPrompt?api-version=2024-09-01`,
    body: { userPrompt: 'hello world', documents: [] },
    pass: { userPromptAnalysis: { attackDetected: false }, documentsAnalysis: [] },
    block: { userPromptAnalysis: { attackDetected: true }, documentsAnalysis: [] },
  },
  {
    ...{ id: 'azure.protectedMaterial', side: 'output', credentials: azure, headers: azureKey },
    url: `${azureUrl}/contentsafety/text:detectProtectedMaterial?api-version=2024-09-01`,
    body: { text: 'hello' },
    pass: { protectedMaterialAnalysis: { detected: false } },
    block: { protectedMaterialAnalysis: { detected: true } },
  },
  {
    ...{ id: 'cato.analyze', side: 'input', credentials: apiKey, url: 'https://api.aisec.catonetworks.com/fw/v1/analyze' },
    headers: [...bearer, 'x-cato-call-id', 't-1'],
    body: { messages: [{ role: 'user', content: [{ type: 'text', text: 'hello world' }] }] },
    pass: { analysis_result: {}, required_action: { action_type: 'monitor_action' } },
    block: { required_action: { action_type: 'block_action', detection_message: 'no' } },
    redact: {
      parameters: {},
      reply: {
        required_action: { action_type: 'anonymize_action' },
        redacted_chat: { redacted_new_message: { role: 'user', content: 'changed' } },
      },
    },
  },
  {
    ...{
      id: 'crowdstrike-aidr.guardChatCompletions',
      side: 'input',
      credentials: { ...apiKey, baseUrl: 'https://aidr.example.com/' },
    },
    ...{ url: 'https://aidr.example.com/v1/guard_chat_completions', headers: bearer },
    body: { guard_input: { model: 'm', messages: [user] }, event_type: 'input', app_id: 'svc-gateway', model: 'm' },
    pass: { status: 'Success', result: { blocked: false, transformed: false, policy: 'p' } },
    block: { status: 'Success', result: { blocked: true, transformed: false, policy: 'p' } },
    redact: {
      parameters: { redact: true },
      reply: {
        status: 'Success',
        result: {
          blocked: false,
          transformed: true,
          policy: 'p',
          guard_output: { model: 'm', messages: [{ role: 'user', content: 'changed' }] },
        },
      },
    },
  },
  {
    ...{ id: 'f5-guardrails.scan', side: 'input', parameters: { projectId: 'p-1' }, credentials: apiKey },
    ...{ url: 'https://us1.calypsoai.app/backend/v1/scans', headers: bearer, body: { input: 'hello world', project: 'p-1' } },
    pass: { id: 'i', redactedInput: 'hello world', result: { outcome: 'cleared', scannerResults: [] } },
    block: { id: 'i', redactedInput: null, result: { outcome: 'flagged', scannerResults: [] } },
    redact: { parameters: { redact: true }, reply: { id: 'i', redactedInput: 'changed', result: { outcome: 'redacted' } } },
  },
  {
    ...{ id: 'javelin.guardrails', side: 'input', credentials: { ...apiKey, application: 'app' } },
    url: 'https://api-dev.javelin.live/v1/guardrails/apply',
    headers: ['x-javelin-apikey', 'k-1', 'x-javelin-application', 'app'],
    body: { input: { text: 'hello world' }, config: {}, metadata: {} },
    pass: { assessments: [{ trustsafety: { request_reject: false } }] },
    block: { assessments: [{ trustsafety: { request_reject: false } }, { promptinjectiondetection: { request_reject: true } }] },
  },
  {
    ...{
      id: 'lakera.guard',
      side: 'input',
      parameters: { projectID: 'p-1' },
      credentials: apiKey,
      url: 'https://api.lakera.ai/v2/guard',
    },
    headers: bearer,
    body: { messages: [user], payload: true, breakdown: true, project_id: 'p-1' },
    pass: { flagged: false, payload: [], breakdown: [] },
    block: { flagged: true, payload: [], breakdown: [{ detector_type: 'prompt_attack', detected: true }] },
  },
  {
    ...{ id: 'lasso.classify', side: 'output', parameters: { userId: 'u' }, credentials: apiKey },
    url: 'https://server.lasso.security/gateway/v2/classify',
    headers: ['lasso-api-key', 'k-1', 'lasso-user-id', 'u'],
    body: { messages: [user, assistant] },
    pass: { deputies: {}, deputies_predictions: {}, violations_detected: false },
    block: { deputies: { jailbreak: true }, deputies_predictions: {}, violations_detected: true },
  },
  {
    ...{ id: 'mistral.moderateContent', side: 'input', parameters: { categories: ['sexual'] }, credentials: apiKey },
    ...{ url: 'https://api.mistral.ai/v1/moderations', headers: bearer },
    body: { model: 'mistral-moderation-latest', input: ['hello world'] },
    pass: { id: 'i', model: 'm', results: [{ categories: { sexual: false, pii: true }, category_scores: {} }] },
    block: { id: 'i', model: 'm', results: [{ categories: { sexual: true }, category_scores: {} }] },
  },
  {
    ...{
      id: 'pangea.textGuard',
      side: 'input',
      parameters: { recipe: 'r' },
      credentials: { ...apiKey, domain: 'aws.us.pangea.cloud' },
    },
    ...{ url: 'https://ai-guard.aws.us.pangea.cloud/v1/text/guard', headers: bearer },
    body: { text: 'hello world', recipe: 'r' },
    pass: { status: 'Success', result: { detectors: { prompt_injection: { detected: false }, pii_entity: null } } },
    block: { status: 'Success', result: { detectors: { malicious_entity: { detected: true } } } },
  },
  {
    ...{ id: 'pangea.pii', side: 'input', credentials: { ...apiKey, domain: 'aws.us.pangea.cloud' } },
    ...{ url: 'https://redact.aws.us.pangea.cloud/v1/redact_structured', headers: bearer, body: { data: ['hello world'] } },
    pass: { status: 'Success', summary: 'none', result: { count: 0, redacted_data: ['hello world'] } },
    block: { status: 'Success', summary: 'one', result: { count: 1, redacted_data: ['<PERSON>'] } },
    redact: { parameters: { redact: true }, reply: { status: 'Success', result: { count: 1, redacted_data: ['changed'] } } },
  },
  {
    ...{
      id: 'panw-prisma-airs.intercept',
      side: 'output',
      parameters: { profile_name: 'p' },
      credentials: { AIRS_API_KEY: 'k-1' },
    },
    url: 'https://service.api.aisecurity.paloaltonetworks.com/v1/scan/sync/request',
    headers: ['x-pan-token', 'k-1'],
    body: {
      tr_id: 't-1',
      metadata: { ai_model: 'unknown-model', app_user: 'svc-gateway' },
      contents: [{ response: 'hello' }],
      ai_profile: { profile_name: 'p' },
    },
    pass: { action: 'allow', category: 'benign', scan_id: 's' },
    block: { action: 'block', category: 'malicious', scan_id: 's' },
  },
  ...(['input', 'output'] as const).map(
    (side): Format => ({
      ...{
        id: side === 'input' ? 'pillar.scanPrompt' : 'pillar.scanResponse',
        side,
        parameters: { scanners: ['pii'] },
        credentials: apiKey,
      },
      url: `https://api.pillarseclabs.com/api/v1/scan/${side === 'input' ? 'prompt' : 'response'}`,
      headers: bearer,
      body: { message: side === 'input' ? 'hello world' : 'hello', scanners: { pii: true } },
      pass: { pii: false, prompt_injection: null },
      block: { pii: [{ type: 'email' }] },
    }),
  ),
  {
    ...{ id: 'promptfoo.guard', side: 'input', credentials: {}, url: 'https://api.promptfoo.dev/v1/guard', headers: [] },
    body: { input: 'hello world' },
    pass: {
      model: 'm',
      results: [{ flagged: false, categories: { prompt_injection: false, jailbreak: false }, category_scores: {} }],
    },
    block: {
      model: 'm',
      results: [{ flagged: true, categories: { prompt_injection: false, jailbreak: true }, category_scores: {} }],
    },
  },
  {
    ...{ id: 'promptfoo.harm', side: 'output', credentials: {}, url: 'https://api.promptfoo.dev/v1/harm', headers: [] },
    body: { input: 'hello' },
    pass: { model: 'm', results: [{ flagged: false, categories: {}, category_scores: {} }] },
    block: { model: 'm', results: [{ flagged: true, categories: { hate: true }, category_scores: {} }] },
  },
  {
    ...{ id: 'promptfoo.pii', side: 'input', credentials: {}, url: 'https://api.promptfoo.dev/v1/pii', headers: [] },
    body: { input: 'hello world' },
    pass: { model: 'm', results: [{ flagged: false, categories: { pii: false }, payload: { pii: [] } }] },
    block: {
      model: 'm',
      results: [{ flagged: true, payload: { pii: [{ entity_type: 'person', start: 0, end: 5, pii: 'hello' }] } }],
    },
  },
  ...(['prompt', 'response'] as const).map(
    (key): Format => ({
      ...{ id: `promptsecurity.protect${key === 'prompt' ? 'Prompt' : 'Response'}`, side: key === 'prompt' ? 'input' : 'output' },
      credentials: { apiDomain: 'eu.prompt.example.com', apiKey: 'k-1' },
      ...{ url: 'https://eu.prompt.example.com/api/protect', headers: ['app-id', 'k-1'] },
      body: { [key]: key === 'prompt' ? 'hello world' : 'hello' },
      pass: { status: 'success', result: { [key]: { passed: true, violations: null } } },
      block: { status: 'success', result: { [key]: { passed: false, violations: ['x'] } } },
      redact: { parameters: { redact: true }, reply: { result: { [key]: { passed: true, modified_text: 'changed' } } } },
    }),
  ),
  ...evaluatorFormats,
  {
    ...{ id: 'sydelabs.sydeguard', side: 'input', credentials: apiKey, headers: ['x-api-key', 'k-1'] },
    ...{ url: 'https://guard.sydelabs.ai/api/v1/guard/generate-score', body: { prompt: 'hello world' } },
    pass: { category_scores: [{ category: 'TOXIC', score: 0.2 }] },
    block: {
      category_scores: [
        { category: 'TOXIC', score: 0.2 },
        { category: 'EVASION', score: 0.7 },
      ],
    },
  },
  {
    ...{
      id: 'walledai.walledprotect',
      side: 'input',
      parameters: { pii_list: [] },
      credentials: apiKey,
      headers: ['x-api-key', 'k-1'],
    },
    url: 'https://services.walled.ai/v1/walled-protect',
    body: {
      text: 'hello world',
      generic_safety_check: true,
      greetings_list: ['Casual & Friendly'],
      pii_list: [],
      compliance_list: [],
    },
    pass: { statusCode: 200, data: { safety: [{ safety: 'generic', isSafe: true }], compliance: [], pii: [], greetings: [] } },
    block: { statusCode: 200, data: { safety: [{ safety: 'generic', isSafe: false }], compliance: [], pii: [], greetings: [] } },
  },
  {
    ...{
      id: 'zscaler.zscalerprotect',
      side: 'output',
      parameters: { policyId: '12' },
      credentials: { zscalerApiKey: 'k-1', zone: 'us1' },
    },
    ...{ url: 'https://api.us1.zseclipse.net/v1/detection/execute-policy', headers: bearer },
    body: { policyId: '12', direction: 'OUT', content: 'hello' },
    pass: { action: 'ALLOW', detectorResponses: {} },
    block: { action: 'BLOCK', detectorResponses: { toxicity: {} } },
  },
  {
    ...{ id: 'svc.http', side: 'input', credentials: {}, url: 'https://judge.example.com/v1?x=1', headers: ['x-key', 'k-1'] },
    parameters: {
      ...{
        url: 'https://judge.example.com/v1?x=1',
        headers: { 'X-Key': 'k-1' },
        verdictPointer: '/results/0/label',
        pass: ['ok', 'unsure'],
      },
      body: { inputs: '{{texts}}', about: { side: '{{side}}', line: 'Q: {{text}} ({{model}})' }, keep: 1 },
    },
    body: { inputs: ['hello world'], about: { side: 'input', line: 'Q: hello world (m)' }, keep: 1 },
    pass: { results: [{ label: 'unsure' }] },
    block: { results: [{ label: 'bad' }] },
    redact: { parameters: { replacementPointer: '/text' }, reply: { results: [{ label: 'ok' }], text: 'changed' } },
  },
];
