/** How long a participant token is valid, in seconds. Source: specification 5.5 and 8. */

export const TOKEN_SECONDS_DEFAULT = 600;
export const TOKEN_SECONDS_MAX = 900;
