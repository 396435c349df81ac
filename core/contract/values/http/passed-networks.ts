/** Lists the gateways and networks that a request has passed, so that none of them sends it in a circle (RFC 8586). */
export const passedNetworks = 'cdn-loop';
