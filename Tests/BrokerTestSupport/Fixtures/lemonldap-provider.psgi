# A LemonLDAP::NG portal as an OpenID provider for tests, for people whose password is their name. Whatever it keeps is in one
# folder; the system's own configuration of it is not read.
#
#   LLNG_FOLDER=DIR LLNG_PORT=N LLNG_REDIRECT=URI plackup --host 127.0.0.1 --port N lemonldap-provider.psgi
use strict;
use warnings;
use JSON;
use Plack::Util;

my ( $folder, $port, $redirect ) = @ENV{qw(LLNG_FOLDER LLNG_PORT LLNG_REDIRECT)};
mkdir "$folder/$_" for qw(conf sessions locks);

sub command { my $text = `$_[0]`; $? == 0 or die "failed: $_[0]"; $text }
command("openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out $folder/key.pem");
my $private = command("cat $folder/key.pem");
my $public  = command("openssl pkey -in $folder/key.pem -pubout");

my %common = (
    oidcRPMetaDataOptionsRedirectUris            => $redirect,
    oidcRPMetaDataOptionsPostLogoutRedirectUris  => $redirect,
    oidcRPMetaDataOptionsIDTokenSignAlg          => 'RS256',
    oidcRPMetaDataOptionsAccessTokenExpiration   => 3600,
    oidcRPMetaDataOptionsIDTokenForceClaims      => 1,
    oidcRPMetaDataOptionsUserIDAttr              => '',
    oidcRPMetaDataOptionsLogoutBypassConfirm     => 1,
);
my %vars = ( email => 'mail', name => 'cn', preferred_username => 'uid' );
my %configuration = (
    cfgNum => 1, cfgAuthor => 'test', cfgDate => 1, cfgVersion => '2.16.1',
    portal => "http://127.0.0.1:$port/", domain => '127.0.0.1', key => 'test', cookieName => 'lemonldap', securedCookie => 0,
    captcha => '::NoCaptcha', authentication => 'Demo', userDB => 'Demo', passwordDB => 'Demo', requireToken => 0, portalMainLogo => '',
    captcha_login_enabled => 0, captcha_mail_enabled => 0, captcha_register_enabled => 0, portalDisplayResetPassword => 0, portalDisplayRegister => 0,
    demoExportedVars => { uid => 'uid', cn => 'cn', mail => 'mail' }, exportedVars => {}, macros => {}, groups => {},
    locationRules => {}, exportedHeaders => {}, whatToTrace => 'uid',
    globalStorage => 'Apache::Session::File',
    globalStorageOptions => { Directory => "$folder/sessions", LockDirectory => "$folder/locks" },
    localSessionStorage => '',
    issuerDBOpenIDConnectActivation => 1, issuerDBOpenIDConnectPath => '^/oauth2/', issuerDBOpenIDConnectRule => 1,
    oidcServiceMetaDataIssuer => "http://127.0.0.1:$port",
    oidcServiceMetaDataAuthorizeURI => 'authorize', oidcServiceMetaDataTokenURI => 'token',
    oidcServiceMetaDataUserInfoURI => 'userinfo', oidcServiceMetaDataJWKSURI => 'jwks',
    oidcServiceMetaDataRegistrationURI => 'register', oidcServiceMetaDataEndSessionURI => 'logout',
    oidcServiceMetaDataCheckSessionURI => 'checksession.html', oidcServiceMetaDataFrontChannelURI => 'flogout',
    oidcServiceMetaDataBackChannelURI => 'blogout', oidcServiceMetaDataIntrospectionURI => 'introspect',
    oidcServiceMetaDataAuthnContext => { 'loa-1' => 1 },
    oidcServiceAllowAuthorizationCodeFlow => 1,
    oidcServicePrivateKeySig => $private, oidcServicePublicKeySig => $public, oidcServiceKeyIdSig => 'k1',
    oidcRPMetaDataExportedVars => { native => \%vars, web => \%vars, offline => \%vars },
    oidcRPMetaDataOptionsExtraClaims => { native => { profile => 'name preferred_username' }, web => {}, offline => {} },
    oidcRPMetaDataOptions => {
        native => { %common, oidcRPMetaDataOptionsClientID => 'native', oidcRPMetaDataOptionsPublic => 1,
            oidcRPMetaDataOptionsRequirePKCE => 1, oidcRPMetaDataOptionsRefreshToken => 1 },
        web => { %common, oidcRPMetaDataOptionsClientID => 'web', oidcRPMetaDataOptionsClientSecret => 'web-secret',
            oidcRPMetaDataOptionsRequirePKCE => 1, oidcRPMetaDataOptionsRefreshToken => 1 },
        # Its refresh tokens outlive the browser's session, and take consent (OpenID Connect Core, section 11).
        offline => { %common, oidcRPMetaDataOptionsClientID => 'offline', oidcRPMetaDataOptionsPublic => 1,
            oidcRPMetaDataOptionsRequirePKCE => 1, oidcRPMetaDataOptionsAllowOffline => 1 },
    },
);
open my $file, '>', "$folder/conf/lmConf-1.json" or die $!;
print $file JSON->new->utf8->pretty->encode( \%configuration );
close $file;
open $file, '>', "$folder/lemonldap-ng.ini" or die $!;
print $file <<"INI";
[all]
logLevel = notice
[configuration]
type = File
dirName = $folder/conf
[portal]
staticPrefix = /static
templateDir = /usr/share/lemonldap-ng/portal/templates
languages = en
INI
close $file;

# The portal loads a captcha, which takes a drawing library, whether one is shown or not.
{
    package Lemonldap::NG::Portal::NoCaptcha;
    use Mouse;
    extends 'Lemonldap::NG::Portal::Main::Plugin';
    sub init { 1 }
    $INC{'Lemonldap/NG/Portal/NoCaptcha.pm'} = __FILE__;
}

require Lemonldap::NG::Portal::Main;
require Lemonldap::NG::Portal::UserDB::Demo;
%Lemonldap::NG::Portal::UserDB::Demo::demoAccounts =
  map { ( $_ => { uid => $_, cn => ucfirst, mail => "$_\@example.test" } ) } qw(alice bob);

my $portal = Lemonldap::NG::Portal::Main->run( { configStorage => { confFile => "$folder/lemonldap-ng.ini" } } );
print STDERR "ready\n";
sub {
    my $environment = shift;
    my $answer = $portal->($environment);
    # This version has offline_access and does not publish it.
    if ( $environment->{PATH_INFO} eq '/.well-known/openid-configuration' ) {
        my $document = decode_json( join '', @{ $answer->[2] } );
        push @{ $document->{scopes_supported} }, 'offline_access';
        $answer->[2] = [ encode_json($document) ];
        Plack::Util::header_remove( $answer->[1], 'Content-Length' );
    }
    return $answer;
};
