import * as v from 'valibot';
import type { HeaderList } from '../../../../core/contract/values/http/http.ts';
import { bothSides, type Check } from '../check.ts';
import { baseUrl, definePartner, flag, secret, text, type Values } from './partner.ts';

const credentials = {
  resourceName: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9-]{1,64}$/, 'expected letters, digits and hyphens')),
  apiKey: secret,
  azureAuthMode: v.optional(v.literal('apiKey', 'entra and managed are not part of this version')),
  customHost: v.optional(baseUrl),
};
type Credentials = Values<typeof credentials>;
const apiVersion = (byDefault: string) =>
  v.optional(v.pipe(v.string(), v.regex(/^[\d-]{10}(?:-preview)?$/, 'expected a date')), byDefault);

const urlOf = ({ customHost, resourceName }: Credentials, path: string, version: string): string =>
  `${customHost ?? `https://${resourceName}.cognitiveservices.azure.com`}/${path}?api-version=${version}`;
const headersOf = ({ apiKey }: Credentials): HeaderList => ['ocp-apim-subscription-key', apiKey];

const categories = ['Hate', 'SelfHarm', 'Sexual', 'Violence'] as const;

const contentSafety = definePartner({
  id: 'azure.contentSafety',
  sides: bothSides,
  parameters: {
    blocklistNames: v.optional(v.array(text), []),
    apiVersion: apiVersion('2024-09-01'),
    severity: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(7)), 2),
    categories: v.optional(v.array(v.picklist(categories)), [...categories]),
  },
  credentials,
  response: v.looseObject({
    categoriesAnalysis: v.array(v.looseObject({ category: v.string(), severity: v.optional(v.nullable(v.number()), 0) })),
    blocklistsMatch: v.optional(v.nullable(v.array(v.unknown()))),
  }),
  toRequest: ({ text: checked, parameters, credentials: given }) => ({
    url: urlOf(given, 'contentsafety/text:analyze', parameters.apiVersion),
    headers: headersOf(given),
    body: { text: checked, categories: parameters.categories, blocklistNames: parameters.blocklistNames },
  }),
  toVerdict(response, { parameters }) {
    const isHarmful = response.categoriesAnalysis.some(({ severity }) => (severity ?? 0) >= parameters.severity);
    return { verdict: !isHarmful && (response.blocklistsMatch ?? []).length === 0, data: response };
  },
});

const pii = definePartner({
  id: 'azure.pii',
  sides: bothSides,
  parameters: {
    domain: v.optional(v.picklist(['none', 'phi', 'healthcare']), 'none'),
    modelVersion: v.optional(text, 'latest'),
    apiVersion: apiVersion('2024-11-01'),
    piiCategories: v.optional(v.array(text)),
    redact: flag(),
    language: v.optional(v.pipe(v.string(), v.regex(/^[a-zA-Z-]{2,10}$/, 'expected a language code')), 'en'),
  },
  credentials,
  eachText: true,
  changes: ({ redact }) => redact,
  redacts: ({ redact }) => redact,
  response: v.looseObject({
    results: v.looseObject({
      documents: v.tuple([
        v.looseObject({ redactedText: v.string(), entities: v.array(v.looseObject({ category: v.optional(v.string()) })) }),
      ]),
    }),
  }),
  toRequest: ({
    text: checked,
    parameters: { domain, modelVersion, piiCategories, language, apiVersion: version },
    credentials: given,
  }) => ({
    url: urlOf(given, 'language/:analyze-text', version),
    headers: headersOf(given),
    body: {
      kind: 'PiiEntityRecognition',
      parameters: { domain, modelVersion, ...(piiCategories === undefined ? {} : { piiCategories }) },
      analysisInput: { documents: [{ id: '0', text: checked, language }] },
    },
  }),
  toVerdict(
    {
      results: {
        documents: [document],
      },
    },
    { parameters: { redact } },
  ) {
    const data = { categories: [...new Set(document.entities.map(({ category }) => category ?? 'unknown'))] };
    if (document.entities.length === 0) return { verdict: true, data };
    return redact ? { verdict: true, data, texts: [document.redactedText] } : { verdict: false, data };
  },
});

const attack = v.looseObject({ attackDetected: v.boolean() });

const shieldPrompt = definePartner({
  id: 'azure.shieldPrompt',
  sides: ['input'],
  parameters: { apiVersion: apiVersion('2024-09-01') },
  credentials,
  response: v.looseObject({ userPromptAnalysis: attack, documentsAnalysis: v.optional(v.nullable(v.array(attack))) }),
  toRequest: ({ text: checked, parameters, credentials: given }) => ({
    url: urlOf(given, 'contentsafety/text:shieldPrompt', parameters.apiVersion),
    headers: headersOf(given),
    body: { userPrompt: checked, documents: [] },
  }),
  toVerdict: (response) => ({
    verdict: [response.userPromptAnalysis, ...(response.documentsAnalysis ?? [])].every(({ attackDetected }) => !attackDetected),
    data: response,
  }),
});

const protectedMaterial = definePartner({
  id: 'azure.protectedMaterial',
  sides: ['output'],
  parameters: { apiVersion: apiVersion('2024-09-01') },
  credentials,
  response: v.looseObject({ protectedMaterialAnalysis: v.looseObject({ detected: v.boolean() }) }),
  toRequest: ({ text: checked, parameters, credentials: given }) => ({
    url: urlOf(given, 'contentsafety/text:detectProtectedMaterial', parameters.apiVersion),
    headers: headersOf(given),
    body: { text: checked },
  }),
  toVerdict: (response) => ({ verdict: !response.protectedMaterialAnalysis.detected, data: response }),
});

/** https://learn.microsoft.com/rest/api/contentsafety and https://learn.microsoft.com/rest/api/language */
export const azure: readonly Check[] = [contentSafety, pii, shieldPrompt, protectedMaterial];
