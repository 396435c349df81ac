/** The text of `upstream_reset` if the connection ended after the head of the reply. */
export const cutShort = 'The provider closed the connection before its reply was complete';
