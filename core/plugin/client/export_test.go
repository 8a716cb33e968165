package client

// CallFault is callFault, for the tests.
var CallFault = callFault
